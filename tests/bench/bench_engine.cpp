// Imports the plan of one workload, executes it with the engine, and prints one line of JSON.
//
//   bench_engine pipeline P M gpipe|1f1b [--plain] [--sink none|metrics|trace] [--out FILE]
//   bench_engine offload N I […]
//   bench_engine loop N I […] a body of N computations and N transfers runs I times
//   bench_engine … --replay          replays the plan instead (no SimGrid)
//
// --sink none runs the engine alone. --sink metrics does the same as `sluice run` without a trace. --sink trace does
// the same as `sluice run` with a trace. The printed seconds are seconds of the wall clock, except those of cpu_s:
// - import_s: to read the plan's text. check_s: to check the plan. build_s is the sum of both.
// - run_s: from the checked plan to the closed trace. run_s has three parts.
//   - setup_s: totals, labels, the trace's header.
//   - engine_s: SimGrid's event loop alone. The reference programs call this time their run time.
//   - close_s: metrics, the rest of the trace, its last fsync.
// - cpu_s: the processor seconds of both threads together during run_s.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/version.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "execute/simgrid/engine.hpp"
#include "metrics/metric.hpp"
#include "metrics/series.hpp"
#include "plan/text.hpp"
#include "run/labels.hpp"
#include "trace/hdf5/writer.hpp"
#include "trace/memory_sink.hpp"
#include "workload.hpp"

namespace sluice::bench {
namespace {

class Stopwatch {
 public:
  /// Returns the seconds since the previous call. The first call returns the seconds since the stopwatch was made.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

struct Request {
  std::string workload, schedule;
  int first = 0, second = 0;  ///< P and M, or N and I
  bool plain = false, replayed = false;
  std::string sink = "none";
  /// The path of the trace. If the path is empty, the trace is a temporary file.
  std::string out;
};

struct Times {
  double import = 0, check = 0, setup = 0, engine = 0, close = 0, run = 0, cpu = 0;
};

[[noreturn]] void usage() {
  throw UsageError(
      "usage: bench_engine (pipeline P M gpipe|1f1b [--plain] | offload N I | loop N I) "
      "[--sink none|metrics|trace] [--out FILE] [--replay]");
}

int positive(const std::string& text) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < 1 || value > 100'000'000) usage();
  return static_cast<int>(value);
}

Request parse(const std::vector<std::string>& words) {
  Request request;
  std::vector<std::string> plain;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool more = i + 1 < words.size();
    if (words[i] == "--plain")
      request.plain = true;
    else if (words[i] == "--replay")
      request.replayed = true;
    else if (words[i] == "--sink" && more)
      request.sink = words[++i];
    else if (words[i] == "--out" && more)
      request.out = words[++i];
    else
      plain.push_back(words[i]);
  }
  if (plain.size() < 3) usage();
  request.workload = plain[0];
  request.first = positive(plain[1]);
  request.second = positive(plain[2]);
  const bool pipeline = request.workload == "pipeline";
  if (plain.size() != (pipeline ? 4U : 3U)) usage();
  if (pipeline) request.schedule = plain[3];
  if (pipeline && request.schedule != "gpipe" && request.schedule != "1f1b") usage();
  if (!pipeline && request.workload != "offload" && request.workload != "loop") usage();
  if (request.sink != "none" && request.sink != "metrics" && request.sink != "trace") usage();
  return request;
}

Plan workload_plan(const Request& r) {
  if (r.workload == "pipeline")
    return pipeline_plan({r.first, r.second, r.schedule == "1f1b", !r.plain});
  return r.workload == "loop" ? loop_plan(r.first, r.second) : offload_plan(r.first, r.second);
}

std::int64_t executions(const Plan& plan) {
  std::int64_t count = 0;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) count += plan.executions_of(a);
  return count;
}

/// Does what the code in sim/run does: collects the metrics, and writes a trace if `path` is not "".
class Recorder {
 public:
  Recorder(const Plan& plan, const std::string& path)
      : totals_(plan), series_(plan, totals_.bound().seconds / 5000) {
    if (path.empty()) return;
    TraceHeader header;
    header.program_version = program_version();
    header.git_sha = git_sha();
    header.simgrid_version = simgrid_version();
    header.simgrid_settings = engine_settings(plan);
    header.make_plan = [&plan] { return to_text(plan); };
    writer_ = std::make_unique<TraceWriter>(path, std::move(header), labels_of(plan));
  }

  std::vector<Sink*> sinks() {
    std::vector<Sink*> sinks{&totals_};
    if (writer_) sinks.insert(sinks.end(), {&series_, writer_.get()});
    return sinks;
  }

  void finish() {
    const Summary summary = summarise(totals_);
    if (writer_) writer_->finish(TraceStatus::complete, summary, series_.table());
  }

 private:
  Totals totals_;
  SeriesSink series_;
  std::unique_ptr<TraceWriter> writer_;
};

/// Returns the processor seconds of all threads.
double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double run(const Request& request, const Plan& plan, const std::string& path, Times& times) {
  Stopwatch whole, part;
  const double cpu = cpu_seconds();
  EngineReport report;
  if (request.replayed) {
    report.makespan = replay(plan, {.jumps = false}).makespan;  // executes every action
    times.engine = part.lap();
  } else if (request.sink == "none") {
    NullSink sink;
    report = execute(plan, sink);
    times.engine = report.loop_wall_s;
  } else {
    Recorder recorder(plan, path);
    FanOut sinks(recorder.sinks());
    times.setup = part.lap();
    report = execute(plan, sinks);
    times.engine = report.loop_wall_s;
    part.lap();
    recorder.finish();
    times.close = part.lap();
  }
  times.run = whole.lap();
  times.cpu = cpu_seconds() - cpu;
  return report.makespan;
}

long peak_rss_kb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

void bench(const Request& request) {
  const std::string text = to_text(workload_plan(request));
  std::string path = request.sink == "trace" ? request.out : "";
  const bool scratch = request.sink == "trace" && path.empty();
  if (scratch) path = "/tmp/sluice-bench-" + std::to_string(getpid()) + ".h5";
  Times times;
  Stopwatch watch;
  const Plan plan = plan_from_text(text, request.workload);
  times.import = watch.lap();
  check(plan);
  times.check = watch.lap();
  const double makespan = run(request, plan, path, times);

  struct stat file {};
  if (!path.empty()) stat(path.c_str(), &file);
  if (scratch) std::remove(path.c_str());
  const bool pipeline = request.workload == "pipeline";
  std::printf(
      "{\"peer\":\"sluice%s\",\"workload\":\"%s\",\"%s\":%d,\"%s\":%d,\"schedule\":\"%s\","
      "\"sink\":\"%s\",\"ops\":%lld,\"makespan_us\":%.6f,\"import_s\":%.6f,\"check_s\":%.6f,"
      "\"build_s\":%.6f,\"run_s\":%.6f,\"setup_s\":%.6f,\"engine_s\":%.6f,\"close_s\":%.6f,"
      "\"cpu_s\":%.6f,"
      "\"trace_bytes\":%lld,\"rss_kb\":%ld}\n",
      request.replayed ? "-replay" : "", request.workload.c_str(), pipeline ? "P" : "N",
      request.first, pipeline ? "M" : "I", request.second, request.schedule.c_str(),
      request.sink.c_str(), static_cast<long long>(executions(plan)), makespan * 1e6, times.import,
      times.check, times.import + times.check, times.run, times.setup, times.engine, times.close,
      times.cpu, static_cast<long long>(file.st_size), peak_rss_kb());
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** words) {
  try {
    sluice::bench::bench(sluice::bench::parse({words + 1, words + count}));
    return 0;
  } catch (const sluice::Error& error) {
    std::fprintf(stderr, "bench_engine: %s\n", error.what());
    return error.exit_code();
  }
}
