// The engine: executes a plan with SimGrid, one actor per stream. It is in a module that is loaded
// when first asked for (engine_module.hpp): a process that does not ask starts without SimGrid.
// Where the module is not there, or is another Sluice's, everything here throws IoError.
//
// Times. A transfer that can meet no other flow, and every computation, is timed by arithmetic: its
// end is start plus seconds, and its actor is suspended until SimGrid's clock is there. SimGrid's
// clock orders all events, the times in the trace are the exact sums. A transfer whose links other
// streams use too is a SimGrid communication, shared max-min fairly; its end is SimGrid's clock.
// Setup occupies the stream before the bytes flow, latency delays the arrival and occupies nothing.
//
// SimGrid allows one engine in a process: a second call to execute() in the same process throws
// InternalError. Whoever wants more forks (run/isolated.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "execute/executor.hpp"
#include "plan/plan.hpp"
#include "trace/span.hpp"

namespace sluice {

struct EngineOptions {
  /// Time transfers that are alone on their links directly. Off: every transfer is a SimGrid
  /// communication; the trace is the same (to the clock's precision), only slower to get.
  bool direct_links = true;
  /// SimGrid's context factory ("raw", "boost", "thread"); empty: SimGrid's own choice.
  std::string contexts = {};
  /// Called now and then with the number of executed actions.
  std::function<void(std::int64_t)> progress = {};
  const PlanTables* tables = nullptr;  ///< of the plan, where they are there already
};

/// What the engine reports beside the spans.
struct EngineReport {
  double makespan = 0;     ///< s until everything has ended and arrived
  double precision = 0;    ///< s: SimGrid's, chosen from a bound of the makespan
  double loop_wall_s = 0;  ///< s of wall clock in SimGrid's event loop; never in a trace
  std::optional<Deadlock> blocking = {};
};

/// Executes a checked plan. Throws Infeasible (with the story) when it blocks, InputError when it
/// uses what is not there, Interrupted on a signal; what was executed by then is in the sink.
EngineReport execute(const Plan& plan, Sink& sink, const EngineOptions& options = {});

extern const PlanExecutor simgrid_executor;

/// Loads the module. To be called before forks whose children run the engine, that each of them has
/// it already.
void load_engine();

/// SimGrid's settings for a plan, for the trace: "network/model:CM02 …".
std::string engine_settings(const Plan& plan);
/// "3.32"
std::string simgrid_version();

}  // namespace sluice
