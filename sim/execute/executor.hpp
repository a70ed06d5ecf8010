// The interface of all executors. An executor takes a plan that has passed check() and a sink, and returns the outcome.
// All executors emit the same spans and memory events in the same order (emitter.hpp). If no link is shared, times are
// equal to the bit, or to 1e-12 of the makespan if the replay leaves out periods. If a link is shared, they are equal to
// 1e-9 of the makespan.
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
  /// Called from time to time with the number of executed actions.
  std::function<void(std::int64_t)> progress = {};
  /// SimGrid's context factory ("raw", "boost", "thread"). Empty: SimGrid chooses.
  std::string contexts = {};
  const PlanTables* tables = nullptr;  ///< the plan's tables, if they exist already
  /// The replay may leave out whole periods of a steady state. Its later times are then sums in another order, and equal
  /// to those of SimGrid to 1e-12 of the makespan. Without this, they are equal to the bit where no link is shared.
  bool may_skip = true;
};

/// The outcome of an execution, in addition to what the sink received.
struct Outcome {
  double makespan = 0;               ///< seconds until everything has ended and arrived
  std::optional<Deadlock> blocking;  ///< set when the execution cannot go on
};

struct PlanExecutor {
  std::string_view name;
  std::string_view summary;
  /// Throws InputError when the plan uses a tensor that is not in its pool, and Interrupted on a signal. By then, the
  /// sink has received everything that was executed before.
  Outcome (*execute)(const Plan& plan, Sink& sink, const ExecutorOptions& options);
};

extern const PlanExecutor replay_executor;  ///< in arithmetic/replay.cpp

}  // namespace sluice
