// The header of a trace says where the trace comes from and how the run ended.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// How a run ended. A trace is `running` until it is finished.
enum class TraceStatus { running, complete, aborted, failed };
std::string_view name_of(TraceStatus status);

/// The origin of a trace. The members about the executor and the member `provenance` are stored in the group
/// /provenance. The content hash leaves this group out.
struct TraceHeader {
  std::string program_version, git_sha;
  std::string executor;  ///< "simgrid", "replay", "both"
  /// SimGrid's version, and SimGrid's settings as "key:value key:value". Both are empty if SimGrid did not run.
  std::string simgrid_version, simgrid_settings;
  std::string scenario;  ///< the whole text of the resolved scenario
  std::string plan;      ///< the plan's text
  /// If `plan` is empty, this function makes the text of the plan. For a large plan, this takes long. So the writer's
  /// thread calls this function once, while the simulation goes on.
  std::function<std::string()> make_plan = {};
  /// The question, the certainty of the answer, and notes, as JSON. Empty if the caller gave no answer. This text also
  /// depends on which figures the files of model and platform call assumed. So the content hash leaves it out.
  std::string answer = {};
  /// Facts that differ between two runs of the same plan. Examples are wall clock, host and command line.
  std::vector<std::pair<std::string, std::string>> provenance;
};

}  // namespace sluice
