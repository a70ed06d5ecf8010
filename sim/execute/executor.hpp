// The interface of all executors. An executor takes a plan that has passed check(), and a sink that receives the spans
// and memory events. The executor returns the outcome of the execution. All executors emit the same spans and memory
// events in the same order (emitter.hpp). The file arithmetic/replay.hpp says how closely
// the times of two executors agree.
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
  /// SimGrid's context factory: "raw", "boost" or "thread". If the text is empty, SimGrid chooses.
  std::string contexts = {};
  const PlanTables* tables = nullptr;  ///< the plan's tables, if they have already been made
  /// Whether the replay may skip whole periods of a steady state. After a skipped period, the replay adds up durations
  /// in another order than SimGrid. So from then on, the times of the two executors agree only to 1e-12 of the
  /// makespan.
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
  /// Executes the plan. Throws InputError if the plan uses a tensor that is not in its pool. Throws Interrupted on a
  /// signal. After an exception, the sink has received all spans and memory events up to that moment.
  Outcome (*execute)(const Plan& plan, Sink& sink, const ExecutorOptions& options);
};

extern const PlanExecutor replay_executor;  ///< defined in arithmetic/replay.cpp

}  // namespace sluice
