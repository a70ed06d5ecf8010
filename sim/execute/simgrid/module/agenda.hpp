// Decides when each actor continues, so that events of the same time have the same order in all executors
// (execute/emitter.hpp). An actor executes one stream. The agenda wakes all streams together that are due at exactly
// the same time, in the order of their numbers. Streams that are due later wait until none of the woken actors can
// continue. SimGrid's clock drives the agenda. The clock treats times as equal if they are very near to each other. The
// agenda orders such times, too.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace sluice {

class Agenda {
 public:
  /// The agenda calls `wake(streams)` when these streams are due. The call is not made by an actor. `wake` returns
  /// whether it has woken any actor.
  using Wake = std::function<bool(const std::vector<std::uint32_t>& streams)>;
  explicit Agenda(Wake wake) : wake_(std::move(wake)) {}

  /// Adds an event: `stream` is due at `time`, which must not be in the past.
  void add(double time, std::uint32_t stream);
  /// Call this function when the woken actors have begun to run.
  void running() { woken_ = false; }
  double now() const { return now_; }

 private:
  using Entry = std::pair<double, std::uint32_t>;
  void arm(double time);
  void tick();

  Wake wake_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> entries_;
  std::vector<double> timers_;  ///< SimGrid's timers, with the earliest timer at the end
  std::vector<std::uint32_t> due_;
  double now_ = 0;      ///< the exact time of the present event
  bool woken_ = false;  ///< whether actors have been woken but do not run yet
};

}  // namespace sluice
