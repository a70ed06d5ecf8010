// Decides when each actor continues. Events at the same time are in the order that all executors share
// (execute/emitter.hpp). The agenda wakes together all streams that are due at one exact time, in the order of their
// numbers. Streams that are due later wait until no actor can run any more. SimGrid's clock drives the agenda. The
// agenda also orders times that the clock cannot tell apart.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace sluice {

class Agenda {
 public:
  /// The agenda calls `wake(streams)` in SimGrid's own context. `wake` returns whether it has woken any actor.
  using Wake = std::function<bool(const std::vector<std::uint32_t>& streams)>;
  explicit Agenda(Wake wake) : wake_(std::move(wake)) {}

  /// Adds an event: `stream` is due at `time`, which must not be in the past.
  void add(double time, std::uint32_t stream);
  /// Tells the agenda that the woken actors run.
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
