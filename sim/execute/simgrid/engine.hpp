// The engine executes a plan with SimGrid, with one actor per stream. It is in a module that is
// loaded when it is first asked for (engine_module.hpp), so that a process that does not need it
// starts without SimGrid. Where the module is missing, or belongs to another Sluice, everything
// here throws IoError.
//
// Times. A transfer that cannot meet another flow, and every computation, is timed by arithmetic:
// its end is its start plus its seconds, and its actor is suspended until SimGrid's clock gets
// there. SimGrid's clock orders all events; the times in the trace are the exact sums. A transfer
// whose links other streams also use is a SimGrid communication, which shares them max-min fairly;
// it ends by SimGrid's clock. Setup occupies the stream before the bytes flow; latency delays the
// arrival and occupies nothing.
//
// SimGrid allows one engine per process: a second call to execute() in the same process throws
// InternalError. Further executions need processes of their own (run/isolated.hpp).
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
  /// Times transfers that are alone on their links directly. Off: every transfer is a SimGrid
  /// communication; the trace is the same (up to the precision of the clock), but takes longer.
  bool direct_links = true;
  /// SimGrid's context factory ("raw", "boost", "thread"); empty: SimGrid's own choice.
  std::string contexts = {};
  /// Called from time to time with the number of executed actions.
  std::function<void(std::int64_t)> progress = {};
  const PlanTables* tables = nullptr;  ///< of the plan, where they are there already
};

/// What the engine reports beside the spans.
struct EngineReport {
  double makespan = 0;     ///< seconds until everything has ended and arrived
  double precision = 0;    ///< seconds: SimGrid's precision, chosen from a bound of the makespan
  double loop_wall_s = 0;  ///< seconds of wall clock in SimGrid's event loop; never in a trace
  std::optional<Deadlock> blocking = {};
};

/// Executes a checked plan. Throws Infeasible (with an explanation) when it blocks, InputError when
/// it uses a tensor that is not in its pool, and Interrupted on a signal; the sink then has
/// everything that was executed before.
EngineReport execute(const Plan& plan, Sink& sink, const EngineOptions& options = {});

extern const PlanExecutor simgrid_executor;

/// Loads the module. Call it before forks whose children run the engine, so that each of them has
/// it already.
void load_engine();

/// SimGrid's settings for a plan, for the trace: "network/model:CM02 …".
std::string engine_settings(const Plan& plan);
/// "3.32"
std::string simgrid_version();

}  // namespace sluice
