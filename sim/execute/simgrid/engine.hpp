// The engine executes a plan with SimGrid, with one actor per stream. The engine is a module that is loaded when it is
// first needed (engine_module.hpp), so a process that does not use the engine starts without loading SimGrid. If the
// module is missing, or was built for another version of Sluice, every function of this file throws IoError.
//
// Every computation, and every transfer that cannot meet another flow, is timed by arithmetic: its end is its start
// plus its seconds. The actor sleeps until SimGrid's clock reaches this end. SimGrid's clock orders all events, but the
// times in the trace are the exact sums. If other streams also use the links of a transfer, the transfer is a SimGrid
// communication, which shares the links max-min fairly. The end of such a transfer is read from SimGrid's clock. The
// setup of a transfer occupies the stream before the bytes flow. The latency of a transfer delays the arrival, but
// occupies neither stream nor links.
//
// SimGrid allows one engine per process: a second call of execute() in the same process throws InternalError. So each
// execution needs its own process (run/isolated.hpp).
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
  /// If true, transfers that cannot meet another flow are timed by arithmetic. If false, every transfer is a SimGrid
  /// communication. The times with `true` and with `false` differ by at most the precision of
  /// SimGrid's clock, but SimGrid computes longer with `false`.
  bool direct_links = true;
  /// SimGrid's context factory ("raw", "boost" or "thread"). If empty, SimGrid chooses.
  std::string contexts = {};
  /// The engine calls this function from time to time with the number of executed actions.
  std::function<void(std::int64_t)> progress = {};
  const PlanTables* tables = nullptr;  ///< the plan's tables, if they have already been made
};

/// What the engine returns in addition to the spans.
struct EngineReport {
  double makespan = 0;     ///< the seconds until all actions have ended and all data have arrived
  double precision = 0;    ///< SimGrid's precision in seconds; it depends on an upper bound of the makespan
  double loop_wall_s = 0;  ///< the wall-clock seconds in SimGrid's event loop; not in the trace
  std::optional<Deadlock> blocking = {};
};

/// Executes a checked plan. Throws Infeasible, with an explanation, if the plan blocks. Throws InputError if the plan
/// uses a tensor that is not in its pool, and Interrupted on a signal. Before the exception, the sink has received all
/// spans and memory events of the execution so far.
EngineReport execute(const Plan& plan, Sink& sink, const EngineOptions& options = {});

extern const PlanExecutor simgrid_executor;

/// Loads the module. Call this function before forking children that run the engine, because children inherit a loaded
/// module.
void load_engine();

/// Returns SimGrid's settings for a plan, for example "network/model:CM02 …". The trace stores these settings.
std::string engine_settings(const Plan& plan);
/// Returns the version of SimGrid, for example "3.32".
std::string simgrid_version();

}  // namespace sluice
