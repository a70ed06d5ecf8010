#include "python/worker/requests.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/error.hpp"
#include "base/number_in.hpp"
#include "base/part_file.hpp"
#include "base/suggest.hpp"
#include "document/load.hpp"
#include "plan/text.hpp"
#include "run/labels.hpp"
#include "run/recording/recording.hpp"
#include "run/run.hpp"
#include "study/sweep/evaluate.hpp"
#include "study/trace_export.hpp"
#include "trace/memory_sink.hpp"

namespace sluice::helper {
namespace {

using Words = std::vector<std::string_view>;

std::string word(const Words& request, std::size_t i) {
  if (i >= request.size()) throw InternalError("a request lacks a part");
  return std::string(request[i]);
}

/// Reads a plan. If the plan does not come from a file, `name` is empty. Error messages about the plan then name no
/// file and no lines.
Plan read_plan(std::string_view text, const std::string& name) {
  Plan plan = plan_from_text(text, name.empty() ? "plan" : name);
  if (name.empty()) {
    plan.source.reset();
    plan.line_begins.clear();
  }
  return plan;
}

/// Reads a number in the form in which Python writes it, with all digits. Returns nullopt for an empty text.
std::optional<double> number_or_none(const std::string& text) {
  const std::optional<double> number = number_in<double>(text);
  if (!number && !text.empty()) throw InternalError("a request brings '" + text + "' for a number");
  return number;
}

Memory run_plan(const Words& request, const ProgressTold& progress) {
  const std::string name = word(request, 3);
  const Plan plan = read_plan(request.at(2), name);
  MemorySink sink;
  const RunRequest run_request{.plan = plan,
                               .scenario_text = word(request, 4),
                               .command_line = word(request, 5),
                               .progress = progress,
                               .executor = executor_named(word(request, 7)),
                               .question_bound_s = number_or_none(word(request, 6)),
                               .also = &sink};
  RunResult result = run(run_request);
  Recording recording;
  recording.header = header_of(run_request);
  recording.header.plan = request.at(2);
  recording.labels = labels_of(plan);
  recording.spans = std::move(sink.spans);
  recording.memory = std::move(sink.events);
  sort_by_pool(recording.memory);
  recording.summary = std::move(result.summary);
  recording.series = std::move(result.series);
  return packed(recording);
}

Memory open_trace(const Words& request) {
  return packed(recording_of(TraceReader(word(request, 2))));
}

Memory save(const Words& request) {
  Recording recording = recording_from(request.at(3));
  if (const std::string answer = word(request, 4); !answer.empty())
    recording.header.answer = answer;
  write_trace(recording, word(request, 2), "");
  return Memory::make(0);
}

/// A temporary folder, which the destructor removes.
class Folder {
 public:
  Folder() {
    path_ = (std::filesystem::temp_directory_path() / "sluice-XXXXXX").string();
    if (!::mkdtemp(path_.data()))
      throw IoError("cannot make a folder '" + path_ + "': " + std::strerror(errno));
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string table_of(const ExportFormat& format, const std::string& table) {
  const std::vector<std::string> known = tables_of(format);
  if (table.empty()) return known.empty() ? "" : known.front();
  if (known.empty())
    throw UsageError("'" + table + "' for 'table': " + format.name +
                     " has no tables; leave out 'table'");
  if (std::find(known.begin(), known.end(), table) == known.end())
    throw UsageError("'" + table +
                     "' for 'table': there is no table with this name in the format " +
                     format.name + did_you_mean(table, known) + "; known: " + join(known));
  return table;
}

/// Exports a recording. An export reads a trace file. So the recording is first written to a temporary trace file.
Memory export_to(const Words& request) {
  const std::string path = word(request, 2);
  const ExportFormat& format = export_catalog().find(word(request, 3));
  const std::string table = table_of(format, word(request, 4));
  PartFile part(path);
  const Folder folder;
  const std::string trace = folder.path() + "/trace.h5";
  write_trace(recording_from(request.at(5)), trace, "");
  export_trace(TraceReader(trace), format, table, [&](std::string_view text) { part.write(text); });
  part.commit();
  return Memory::make(0);
}

/// Runs one point of a sweep with SimGrid. The request has the text of the scenario, the path of the scenario, and then
/// the overrides of this point.
Memory simulate_point(const Words& request) {
  const std::string path = word(request, 3);
  const Variants variants(parse_text(word(request, 2), path), path, {});
  const std::vector<std::string> changes(request.begin() + 4, request.end());
  PointResult result = evaluate(variants, changes, [](const Plan& plan, double question_bound_s) {
    return run({.plan = plan, .executor = Executor::simgrid, .question_bound_s = question_bound_s})
        .summary;
  });
  if (!result.executor.empty()) result.executor = "simgrid";
  const std::string bytes = packed(result);
  Memory memory = Memory::make(bytes.size());
  std::copy(bytes.begin(), bytes.end(), memory.data());
  return memory;
}

}  // namespace

Memory answer(const Words& request, const ProgressTold& progress) {
  const std::string what = word(request, 0);
  // Relative paths of the request belong to the folder word(request, 1). If all paths are absolute, this folder is not
  // needed. So it is not an error here that the folder is missing.
  std::error_code ignored;
  std::filesystem::current_path(word(request, 1), ignored);
  if (what == "run") return run_plan(request, progress);
  if (what == "point") return simulate_point(request);
  if (what == "open") return open_trace(request);
  if (what == "save") return save(request);
  if (what == "export") return export_to(request);
  throw InternalError("the helper does not know the request '" + what + "'");
}

}  // namespace sluice::helper
