// The replay executes a plan by computing the times of its events, without SimGrid. The judge, which compares
// candidates, uses the replay. The replay and the engine of SimGrid implement the meaning of a plan independently of
// each other. Both executors emit the same spans and memory events. If no link is shared, their times are exactly equal
// up to the first skipped period. After a skipped period, the times agree to 1e-12 of the makespan. If a link is
// shared, all times agree to 1e-9 of the makespan (sharing.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "execute/deadlock.hpp"
#include "execute/steady.hpp"
#include "plan/tables.hpp"
#include "trace/span.hpp"

namespace sluice {

struct ReplayWorth;

/// A replay executes every action of a run of at most so many iterations. Of a longer run, it may skip periods.
inline constexpr std::int64_t few_iterations = 16;

struct ReplayOptions {
  /// If true, every pool counts as unlimited: no action waits for memory. ReplayResult::reserved is computed
  /// nevertheless.
  bool unlimited = false;
  /// If true, the replay skips whole periods of a steady state, and calls Sink::repeat for them. If false, every action
  /// is executed. The times with `true` and with `false` agree to 1e-12 of the makespan.
  bool jumps = true;
  /// If true, the caller needs only `period`, and the replay ends once it has found the steady state. In this case, the
  /// sink receives spans but no memory events. If there is no steady state, the replay executes the whole plan, and the
  /// sink receives all spans.
  bool until_period = false;
  /// If this is given (least_rest.hpp), the replay may end once it is clear that the run takes the seconds of `worth` or
  /// more. ReplayResult::makespan is then a lower bound of at least these seconds, and the other results are those of the
  /// run so far. With `worth`, no periods are skipped.
  const ReplayWorth* worth = nullptr;
  /// The replay calls this function from time to time with the number of executed actions.
  std::function<void(std::int64_t)> progress = {};
};

struct ReplayResult {
  /// Seconds until all actions have ended and all data have arrived.
  double makespan = 0;
  std::vector<std::int64_t> peaks;  ///< bytes, by pool
  /// For each pool, the greatest sum that the reservation rule computes at a grant (reservation.hpp): the held bytes,
  /// the bytes of earlier requests, and the bytes of the granted request. If the pool had only this capacity, the run
  /// would have the same times. For a shared or unlimited pool, the number is the peak.
  std::vector<std::int64_t> reserved;
  /// The iterations and seconds of one period of the steady state. There is no value if no steady state was found. The
  /// replay searches for it only if `jumps` is true and the plan has more than `few_iterations` iterations.
  std::optional<Jump> period;
  std::optional<Deadlock> blocking;  ///< the deadlock if the run blocks at the time `makespan`
};

/// Replays the plan. Throws InputError if the plan uses a tensor that is not in its pool. Throws Interrupted on a
/// signal.
ReplayResult replay(const Plan& plan, const ReplayOptions& options = {});
/// Replays the plan, and passes all spans and memory events to a sink.
ReplayResult replay(const Plan& plan, Sink& sink, const ReplayOptions& options = {});
/// The next two functions do the same for a plan whose tables have already been made.
ReplayResult replay(const PlanTables& tables, const ReplayOptions& options = {});
ReplayResult replay(const PlanTables& tables, Sink& sink, const ReplayOptions& options = {});
using Executed = Span;
/// Replays the plan, and calls `each` for each span. The caller gets no memory events.
ReplayResult replay(const Plan& plan, const std::function<void(const Executed&)>& each);

}  // namespace sluice
