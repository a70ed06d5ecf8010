// Records which executions have ended, and at which second their data arrived. The record shows whether an action may
// start, and which arrival it waited for last.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/large_pages.hpp"
#include "execute/steady.hpp"
#include "plan/tables.hpp"
#include "trace/span.hpp"

namespace sluice {

/// The reason why a span does not start earlier: what the span waited for last. This is an arrival of data or a grant
/// of bytes. If the span waited last for its stream or for the time `not_before`, the reason is `none`. If several
/// arrivals come last at the same time, the reason is the arrival whose execution comes last in the trace.
struct StartReason {
  double ready = 0;  ///< seconds
  WaitReason reason = WaitReason::none;
  std::uint32_t blocker = none;
  std::int64_t row = -1;

  void consider_arrival(double time, std::uint32_t action, std::int64_t by_row) {
    if (time < ready || (time == ready && (reason == WaitReason::none || by_row <= row))) return;
    *this = {time, WaitReason::data, action, by_row};
  }
  /// Delays the start to the time of the action's `not_before`.
  void consider_not_before(double time) {
    if (time > ready) *this = {time};
  }
  void consider_grant(double time, std::uint32_t pool, std::int64_t by_row) {
    if (time > ready) *this = {time, WaitReason::memory, pool, by_row};
  }
};

class Arrivals {
 public:
  explicit Arrivals(const PlanTables& tables)
      : tables_(tables), progress_(tables.plan.actions.size()) {}

  bool ended(std::uint32_t action, std::int64_t iteration) const {
    return progress_[action].done > iteration;
  }
  void end(std::uint32_t action, std::int64_t iteration, double end, double available,
           std::int64_t row) {
    progress_[action] = {iteration + 1, available, row};
    if (available > end && tables_.repeats(action))
      remember(action, {iteration, available, row}, end);
  }
  /// Adds the state of this record to the snapshot (steady.hpp). Arrivals in the past no longer
  /// delay an action. So the state does not contain them.
  void write(Snapshot& snapshot) const {
    for (std::uint32_t a = tables_.plan.body_begin; a < tables_.plan.body_end; ++a) {
      const Progress& progress = progress_[a];
      if (all_done(a))
        snapshot.add(-1);
      else
        snapshot.add_iteration(progress.done);
      write(snapshot, progress.arrival, progress.row);
      for (const Flight& flight : flights_of(a))
        if (flight.arrival >= snapshot.now) {
          snapshot.add_iteration(flight.iteration);
          write(snapshot, flight.arrival, flight.row);
        }
    }
  }
  void skip(const Jump& jump) {
    for (std::uint32_t a = tables_.plan.body_begin; a < tables_.plan.body_end; ++a) {
      Progress& progress = progress_[a];
      if (!all_done(a))
        progress = {progress.done + jump.iterations, progress.arrival + jump.seconds,
                    progress.row + jump.rows};
      if (flights_.empty()) continue;
      for (Flight& flight : flights_[a])
        flight = {flight.iteration + jump.iterations, flight.arrival + jump.seconds,
                  flight.row + jump.rows};
    }
  }

  /// Returns the reason why `action`, the next action of a stream, does not start earlier. Waits for memory are not
  /// considered here. The stream has been free since the time `free_at`. Before the call, every execution that the
  /// action awaits must have ended.
  StartReason start_reason(double free_at, std::uint32_t action, std::int64_t iteration) const {
    StartReason cause{free_at};
    for (const Wait& wait : tables_.waits(action)) {
      const std::int64_t target = tables_.awaited(action, iteration, wait);
      if (target >= 0) consider_execution(cause, wait.action, target);
    }
    cause.consider_not_before(tables_.not_before(action));
    return cause;
  }

 private:
  /// If the arrival of this execution is later than `cause`, makes it the cause. `progress_` keeps only the latest
  /// ended execution of each action. Suppose that the awaited execution is an earlier one, and that its data are not in
  /// flight. Then the action waited longer for something else, so the arrival of these data does not matter.
  void consider_execution(StartReason& cause, std::uint32_t action, std::int64_t iteration) const {
    const Progress& progress = progress_[action];
    if (progress.done == iteration + 1)
      cause.consider_arrival(progress.arrival, action, progress.row);
    else if (tables_.latency(action) > 0)
      consider_flights(cause, action, iteration);
  }

  bool all_done(std::uint32_t a) const {
    return progress_[a].done + std::max(0, tables_.plan.actions[a].ahead) >=
           tables_.plan.iterations;
  }
  static void write(Snapshot& snapshot, double arrival, std::int64_t row) {
    const bool comes = arrival >= snapshot.now;
    snapshot.add(comes);
    if (!comes) return;
    snapshot.add_time(arrival);
    snapshot.add_row(row);
  }
  /// The latest ended execution of an action.
  struct Progress {
    std::int64_t done = 0;  ///< the iteration of this execution, plus 1
    double arrival = 0;     ///< the time at which the data of this execution arrived
    std::int64_t row = -1;  ///< the row of this execution in the trace
  };
  /// An execution that has ended but whose data have not arrived. An execution is in this state only if it has a flow
  /// over a route with a latency.
  struct Flight {
    std::int64_t iteration;
    double arrival;
    std::int64_t row;
  };
  std::span<const Flight> flights_of(std::uint32_t action) const {
    if (flights_.empty()) return {};
    return flights_[action];
  }
  void remember(std::uint32_t action, const Flight& flight, double now) {
    if (flights_.empty()) flights_.resize(tables_.plan.actions.size());
    auto& flights = flights_[action];
    std::erase_if(flights, [&](const Flight& other) { return other.arrival < now; });
    flights.push_back(flight);
  }
  void consider_flights(StartReason& cause, std::uint32_t action, std::int64_t iteration) const {
    for (const Flight& flight : flights_of(action))
      if (flight.iteration == iteration) cause.consider_arrival(flight.arrival, action, flight.row);
  }

  const PlanTables& tables_;
  LargeVector<Progress> progress_;            ///< indexed by action
  std::vector<std::vector<Flight>> flights_;  ///< indexed by action; empty if there were none
};

}  // namespace sluice
