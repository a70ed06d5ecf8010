// The engine executes a plan with SimGrid, with one actor per stream. The engine is a module that is loaded at its
// first use (engine_module.hpp). So a process that does not use the engine starts without loading SimGrid. If the
// module is missing, or was built for another version of Sluice, every function of this file throws IoError.
//
// Computations are timed by arithmetic: the end is the start plus the seconds. The same holds for a transfer that meets
// no other flow on its links. During the computation or transfer, the actor sleeps until SimGrid's clock reaches the
// end. SimGrid's clock orders all events. As the end of such a computation or transfer, the trace has the sum of start
// and seconds, not the time of the clock. If other streams also use the links of a transfer, the transfer is a SimGrid
// communication. SimGrid then shares the links by max-min fairness, and the end of the transfer is read from SimGrid's
// clock. The setup of a transfer occupies the stream before the bytes flow. The latency of a transfer delays the arrival
// of its data, but does not occupy the stream or the links.
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
  /// If true, a transfer that meets no other flow is timed by arithmetic. If false, every transfer is a SimGrid
  /// communication. The run of SimGrid then takes longer. The times in the trace with `true` and with `false` differ by
  /// at most the precision of SimGrid's clock.
  bool direct_links = true;
  /// SimGrid's context factory: "raw", "boost" or "thread". If the text is empty, SimGrid chooses.
  std::string contexts = {};
  /// The engine calls this function from time to time with the number of executed actions.
  std::function<void(std::int64_t)> progress = {};
  const PlanTables* tables = nullptr;  ///< the plan's tables, if they have already been made
};

/// The result of the engine, in addition to the spans that the sink receives.
struct EngineReport {
  double makespan = 0;     ///< the seconds until all actions have ended and all data have arrived
  double precision = 0;    ///< SimGrid's precision in seconds; it depends on an upper bound of the makespan
  double loop_wall_s = 0;  ///< the wall-clock seconds in SimGrid's event loop; not in the trace
  std::optional<Deadlock> blocking = {};
};

/// Executes a checked plan. Throws Infeasible, with an explanation, if the plan blocks. Throws InputError if the plan
/// uses a tensor that is not in its pool. Throws Interrupted on a signal. After an exception, the sink has received all
/// spans and memory events up to that moment.
EngineReport execute(const Plan& plan, Sink& sink, const EngineOptions& options = {});

extern const PlanExecutor simgrid_executor;

/// Loads the module. Call this function before forking children that run the engine: the children inherit the loaded
/// module.
void load_engine();

/// Returns the settings with which SimGrid executes this plan, for example "network/model:CM02 …". The trace stores
/// these settings.
std::string engine_settings(const Plan& plan);
/// Returns the version of SimGrid, for example "3.32".
std::string simgrid_version();

}  // namespace sluice
