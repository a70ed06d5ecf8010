#include "run/run.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/version.hpp"
#include "execute/feasibility.hpp"
#include "execute/simgrid/engine.hpp"
#include "metrics/metric.hpp"
#include "metrics/series.hpp"
#include "plan/text.hpp"
#include "run/further_steps.hpp"
#include "run/labels.hpp"
#include "trace/hdf5/writer.hpp"

namespace sluice {

namespace {

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

/// Returns the value of the environment variable SLUICE_CONTEXT, which names SimGrid's context factory.
/// A build with sanitizers needs the factory "thread". If the variable is not set or is empty, SimGrid chooses the
/// factory.
std::string contexts_from_environment() {
  const char* contexts = std::getenv("SLUICE_CONTEXT");
  return contexts ? contexts : "";
}

/// The sinks of an execution. They measure the run. If the request names a file for the trace, they also write the
/// trace.
class Listeners {
 public:
  explicit Listeners(const RunRequest& request)
      : totals_(request.plan), also_(request.also), answer_(request.answer) {
    totals_.set_question_bound(request.question_bound_s);
    if (also_ || !request.trace_path.empty())
      series_.emplace(request.plan, totals_.bound().seconds / 5000);
    if (!request.trace_path.empty())
      writer_ = std::make_unique<TraceWriter>(request.trace_path, header_of(request),
                                              labels_of(request.plan));
  }

  Sink& sink() {
    if (!fan_out_) {
      std::vector<Sink*> sinks{&totals_};
      if (series_) sinks.push_back(&*series_);
      if (writer_) sinks.push_back(writer_.get());
      if (also_) sinks.push_back(also_);
      fan_out_ = std::make_unique<FanOut>(std::move(sinks));
    }
    return *fan_out_;
  }

  RunResult finish(TraceStatus status) {
    if (status == TraceStatus::complete) totals_.set_further_step(further_step_s(totals_.plan()));
    RunResult result;
    result.summary = summarise(totals_);
    if (series_) result.series = series_->table();
    if (!writer_) return result;
    std::string answer;
    if (answer_ && status == TraceStatus::complete) answer = answer_(result.summary);
    writer_->finish(status, result.summary, result.series, answer);
    result.content_sha256 = writer_->content_sha256();
    return result;
  }

 private:
  Totals totals_;
  /// If no trace is written and there is no sink `also`, this member has no value.
  std::optional<SeriesSink> series_;
  Sink* also_;
  const std::function<std::string(const Summary&)>& answer_;
  std::unique_ptr<TraceWriter> writer_;
  std::unique_ptr<FanOut> fan_out_;
};

}  // namespace

TraceHeader header_of(const RunRequest& request) {
  TraceHeader header;
  header.program_version = program_version();
  header.git_sha = git_sha();
  const Executor executor = resolved(request.executor, request.plan);
  header.executor = name_of(executor);
  if (executor != Executor::replay) {
    header.simgrid_version = simgrid_version();
    header.simgrid_settings = engine_settings(request.plan);
  }
  header.scenario = request.scenario_text;
  header.make_plan = [&plan = request.plan] { return to_text(plan); };
  header.provenance = {
      {"command_line", request.command_line}, {"host", host_name()}, {"started", utc_now()}};
  return header;
}

RunResult run(const RunRequest& request) {
  // The executor detects whether the plan blocks. So most plans need no replay before the execution.
  // But the sink `also` must never receive spans of an execution that blocks. So if there is such a
  // sink, check() replays the plan first, and throws an error if the plan blocks.
  const bool once = !request.also && ends_if_it_ran(request.plan);
  ExecutorOptions options;
  std::optional<PlanTables> tables;
  if (once)
    options.tables = &tables.emplace(check_without_replay(request.plan));
  else
    check(request.plan);
  // While `in_order` exists, a signal only sets a flag. So if the run is interrupted, its trace can still be finished.
  const InOrder in_order;
  Listeners listeners(request);
  options.contexts = contexts_from_environment();
  if (request.progress)
    options.progress = [&request, total = executions_of(request.plan)](std::int64_t done) {
      request.progress(done, total);
    };
  try {
    execute(request.plan, request.executor, listeners.sink(), options);
  } catch (const Interrupted&) {
    listeners.finish(TraceStatus::aborted);
    throw;
  } catch (const Error&) {  // The plan blocks, or SimGrid and the replay differ.
    // If the plan blocks, check() throws the exception with the usual message, and no trace is written.
    if (once) check(request.plan);
    listeners.finish(TraceStatus::failed);
    throw;
  }
  RunResult result = listeners.finish(TraceStatus::complete);
  result.executor = resolved(request.executor, request.plan);
  return result;
}

}  // namespace sluice
