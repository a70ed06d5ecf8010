// What a trace says about itself.
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

/// The origin of a trace. What belongs to the executor, and `provenance`, are in /provenance, which
/// is not part of the content hash.
struct TraceHeader {
  std::string program_version, git_sha;
  std::string executor;                           ///< "simgrid", "replay", "both"
  std::string simgrid_version, simgrid_settings;  ///< "key:value key:value"; empty without SimGrid
  std::string scenario;                           ///< the whole text of the resolved scenario
  std::string plan;                               ///< the plan's text
  /// Makes the plan's text, instead of `plan`: called once, in the writer's thread, because the
  /// text of a large plan takes a while.
  std::function<std::string()> make_plan = {};
  /// What was asked, how certain the answer is, and notes, as JSON; empty where these were not
  /// given. It follows from the other content of the trace, and is not content of its own.
  std::string answer = {};
  /// Wall clock, host, command line: what differs between two runs of the same plan.
  std::vector<std::pair<std::string, std::string>> provenance;
};

}  // namespace sluice
