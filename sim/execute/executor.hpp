// The interface of all executors. An executor takes a sink and a plan that has passed check(), and returns the outcome
// of the execution. All executors emit the same spans and memory events in the same order (emitter.hpp). If no link is
// shared, the times of all executors are equal to the bit. But if the replay skips periods, its times agree with the
// times of other executors only to 1e-12 of the makespan. If a link is shared, all times agree to 1e-9 of the makespan.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "execute/deadlock.hpp"
#include "plan/tables.hpp"
#include "trace/span.hpp"

namespace sluice {

struct ExecutorOptions {
  /// The executor calls this function from time to time with the number of executed actions.
  std::function<void(std::int64_t)> progress = {};
  /// SimGrid's context factory ("raw", "boost" or "thread"). If empty, SimGrid chooses.
  std::string contexts = {};
  const PlanTables* tables = nullptr;  ///< the plan's tables, if they have already been made
  /// Whether the replay may skip whole periods of a steady state. After skipped periods, the replay adds up durations
  /// in another order than SimGrid, so its times equal SimGrid's times only to 1e-12 of the makespan. If no period is
  /// skipped and no link is shared, all times equal SimGrid's times to the bit.
  bool may_skip = true;
};

/// The outcome of an execution, in addition to what the sink received.
struct Outcome {
  /// Seconds until all actions have ended and all data have arrived.
  double makespan = 0;
  std::optional<Deadlock> blocking;  ///< the deadlock if the execution cannot go on
};

struct PlanExecutor {
  std::string_view name;
  std::string_view summary;
  /// Executes the plan. Throws InputError if the plan uses a tensor that is not in its pool, and Interrupted on a
  /// signal. Before the exception, the sink has received all spans and memory events of the execution so far.
  Outcome (*execute)(const Plan& plan, Sink& sink, const ExecutorOptions& options);
};

extern const PlanExecutor replay_executor;  ///< defined in arithmetic/replay.cpp

}  // namespace sluice
