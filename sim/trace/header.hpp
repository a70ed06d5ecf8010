// What a trace says of itself.
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

/// Where a trace comes from. What belongs to the executor and `provenance` stand in /provenance,
/// which is no part of the content hash.
struct TraceHeader {
  std::string program_version, git_sha;
  std::string executor;                           ///< "simgrid", "replay", "both"
  std::string simgrid_version, simgrid_settings;  ///< "key:value key:value"; empty without SimGrid
  std::string scenario;                           ///< the resolved scenario's whole text
  std::string plan;                               ///< the plan's text
  /// Makes the plan's text, in place of `plan`: called once, in the writer's thread, because that
  /// of a large plan takes a while.
  std::function<std::string()> make_plan = {};
  /// What was asked, how sure the answer is, and notes, as JSON; empty where nobody said. It is
  /// made from what is in the trace anyhow, and no content of its own.
  std::string answer = {};
  /// Wall clock, host, command line: what differs between two runs of the same.
  std::vector<std::pair<std::string, std::string>> provenance;
};

}  // namespace sluice
