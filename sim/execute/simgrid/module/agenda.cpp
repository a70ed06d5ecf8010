#include "execute/simgrid/module/agenda.hpp"

#include <simgrid/s4u/Engine.hpp>

#include <simgrid/kernel/Timer.hpp>

#include <algorithm>
#include <cmath>

namespace sluice {

namespace {
double clock() {
  return simgrid::s4u::Engine::get_clock();
}
}  // namespace

void Agenda::add(double time, std::uint32_t stream) {
  entries_.emplace(time, stream);
  arm(std::max(time, clock()));
}

/// Sets a timer for this time, unless a timer is already set for this time or an earlier time.
void Agenda::arm(double time) {
  if (!timers_.empty() && timers_.back() <= time) return;
  timers_.push_back(time);
  simgrid::kernel::timer::Timer::set(time, [this] { tick(); });
}

/// Handles a timer. SimGrid calls tick() for all due timers before it lets actors run. But if an
/// earlier timer has woken actors, these actors must run before more actors are woken. In this
/// case, the function only sets a new timer.
void Agenda::tick() {
  timers_.pop_back();
  if (entries_.empty()) return;
  const double later = std::nextafter(clock(), HUGE_VAL);
  if (woken_) return arm(later);
  if (entries_.top().first <= clock()) {
    now_ = entries_.top().first;
    due_.clear();
    for (; !entries_.empty() && entries_.top().first == now_; entries_.pop())
      due_.push_back(entries_.top().second);
    woken_ = wake_(due_);
  }
  if (!entries_.empty()) arm(std::max(entries_.top().first, later));
}

}  // namespace sluice
