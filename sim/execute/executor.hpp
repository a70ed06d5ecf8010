// The one contract of the executors: a plan that has passed check() and a sink in, what it comes to
// out. Both emit the same spans and memory events in the same order (emitter.hpp): equal to the bit
// where no link is shared, to 1e-9 of the makespan where one is.
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
  /// Called now and then with the number of executed actions.
  std::function<void(std::int64_t)> progress = {};
  /// SimGrid's context factory ("raw", "boost", "thread"); empty: SimGrid's own choice.
  std::string contexts = {};
  const PlanTables* tables = nullptr;  ///< of the plan, where they are there already
};

/// What an execution comes to, beside what the sink was told.
struct Outcome {
  double makespan = 0;               ///< s until everything has ended and arrived
  std::optional<Deadlock> blocking;  ///< set when it cannot go on
};

struct PlanExecutor {
  std::string_view name;
  std::string_view summary;
  /// Throws InputError when the plan uses what is not there, Interrupted on a signal; what was
  /// executed by then is in the sink.
  Outcome (*execute)(const Plan& plan, Sink& sink, const ExecutorOptions& options);
};

extern const PlanExecutor replay_executor;  ///< arithmetic/replay.cpp

}  // namespace sluice
