// The engine executes a plan with SimGrid, with one actor per stream. It is a module that is loaded
// when it is first needed (engine_module.hpp), so that a process without it starts without SimGrid.
// If the module is missing, or was built for another version of Sluice, everything here throws
// IoError.
//
// Every computation, and every transfer that cannot meet another flow, is timed by arithmetic: its end is
// its start plus its seconds, and its actor is suspended until SimGrid's clock reaches that end. SimGrid's
// clock orders all events, but the times in the trace are the exact sums. A transfer whose links other
// streams also use is a SimGrid communication, which shares the links max-min fairly. Its end is read from
// SimGrid's clock. Setup occupies the stream before the bytes flow. Latency delays the arrival and occupies
// nothing.
//
// SimGrid allows one engine per process: a second call of execute() in the same process throws
// InternalError. Further executions need their own processes (run/isolated.hpp).
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
  /// Transfers that have their links to themselves are timed by arithmetic. When this is off, every transfer is a
  /// SimGrid communication. The trace is then the same up to the precision of the clock, and the program takes longer.
  bool direct_links = true;
  /// SimGrid's context factory ("raw", "boost", "thread"). Empty: SimGrid chooses.
  std::string contexts = {};
  /// Called from time to time with the number of executed actions.
  std::function<void(std::int64_t)> progress = {};
  const PlanTables* tables = nullptr;  ///< the plan's tables, if they exist already
};

/// What the engine reports in addition to the spans.
struct EngineReport {
  double makespan = 0;     ///< seconds until everything has ended and arrived
  double precision = 0;    ///< seconds: SimGrid's precision, chosen from a bound of the makespan
  double loop_wall_s = 0;  ///< wall-clock seconds in SimGrid's event loop; never in a trace
  std::optional<Deadlock> blocking = {};
};

/// Executes a checked plan. Throws Infeasible (with an explanation) when the plan blocks. Throws InputError when the
/// plan uses a tensor that is not in its pool, and Interrupted on a signal. By then, the sink has received everything
/// that was executed before.
EngineReport execute(const Plan& plan, Sink& sink, const EngineOptions& options = {});

extern const PlanExecutor simgrid_executor;

/// Loads the module. Call this before forking children that run the engine, because children inherit a loaded
/// module.
void load_engine();

/// SimGrid's settings for a plan, such as "network/model:CM02 …". They are written to the trace.
std::string engine_settings(const Plan& plan);
/// Returns a version such as "3.32".
std::string simgrid_version();

}  // namespace sluice
