// What has ended, and when it arrived: whom others may wait for, and what ended a wait last.
// Seconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "execute/steady.hpp"
#include "plan/tables.hpp"
#include "trace/span.hpp"

namespace sluice {

/// Why a span starts when it does: the last of all that it waited for. Of several that arrived at
/// one time it is the last in the trace's order.
struct Cause {
  double ready = 0;  ///< s
  WaitReason reason = WaitReason::none;
  std::uint32_t blocker = none;
  std::int64_t row = -1;

  void arrived(double time, std::uint32_t action, std::int64_t by_row) {
    if (time < ready || (time == ready && (reason == WaitReason::none || by_row <= row))) return;
    *this = {time, WaitReason::data, action, by_row};
  }
  /// By its not_before: it then waits for nobody.
  void held_until(double time) {
    if (time > ready) *this = {time};
  }
  void granted(double time, std::uint32_t pool, std::int64_t by_row) {
    if (time > ready) *this = {time, WaitReason::memory, pool, by_row};
  }
};

class Arrivals {
 public:
  explicit Arrivals(const PlanTables& tables)
      : tables_(tables),
        progress_(tables.plan.actions.size()),
        flights_(tables.plan.actions.size()) {}

  bool ended(std::uint32_t action, std::int64_t iteration) const {
    return progress_[action].done > iteration;
  }
  void end(std::uint32_t action, std::int64_t iteration, double end, double available,
           std::int64_t row) {
    progress_[action] = {iteration + 1, available, row};
    if (available > end && tables_.repeats(action))
      remember(action, {iteration, available, row}, end);
  }
  /// Arrivals that are past end no wait any more.
  void write(Snapshot& snapshot) const {
    for (std::uint32_t a = tables_.plan.body_begin; a < tables_.plan.body_end; ++a) {
      const Progress& progress = progress_[a];
      if (all_done(a))
        snapshot.add(-1);
      else
        snapshot.add_iteration(progress.done);
      write(snapshot, progress.arrival, progress.row);
      for (const Flight& flight : flights_[a])
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
      for (Flight& flight : flights_[a])
        flight = {flight.iteration + jump.iterations, flight.arrival + jump.seconds,
                  flight.row + jump.rows};
    }
  }

  /// Why the head of a stream that is free since then starts when it does, but for memory: all that
  /// it waits for has ended.
  Cause cause_of(double free_at, std::uint32_t action, std::int64_t iteration) const {
    Cause cause{free_at};
    for (const Wait& wait : tables_.waits(action)) {
      const std::int64_t target = tables_.awaited(action, iteration, wait);
      if (target >= 0) raise(cause, wait.action, target);
    }
    cause.held_until(tables_.not_before(action));
    return cause;
  }

 private:
  /// Of an execution that has ended. One that arrived before others of its action ended is
  /// forgotten: whoever looks at it now has waited for something later.
  void raise(Cause& cause, std::uint32_t action, std::int64_t iteration) const {
    const Progress& progress = progress_[action];
    if (progress.done == iteration + 1)
      cause.arrived(progress.arrival, action, progress.row);
    else if (tables_.latency(action) > 0)
      raise_from_flights(cause, action, iteration);
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
  /// Executions of one action that others may wait for.
  struct Progress {
    std::int64_t done = 0;  ///< iteration + 1 of the last one that ended
    double arrival = 0;     ///< of that one
    std::int64_t row = -1;  ///< its row in the trace
  };
  /// An execution that has ended but not arrived (only with a latency).
  struct Flight {
    std::int64_t iteration;
    double arrival;
    std::int64_t row;
  };
  void remember(std::uint32_t action, const Flight& flight, double now) {
    auto& flights = flights_[action];
    std::erase_if(flights, [&](const Flight& other) { return other.arrival < now; });
    flights.push_back(flight);
  }
  void raise_from_flights(Cause& cause, std::uint32_t action, std::int64_t iteration) const {
    for (const Flight& flight : flights_[action])
      if (flight.iteration == iteration) cause.arrived(flight.arrival, action, flight.row);
  }

  const PlanTables& tables_;
  std::vector<Progress> progress_;            ///< by action
  std::vector<std::vector<Flight>> flights_;  ///< by action
};

}  // namespace sluice
