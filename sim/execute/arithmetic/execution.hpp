// One replay of a plan: see replay.hpp. Internal to it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "base/interrupt.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/arithmetic/sharing.hpp"
#include "execute/arrivals.hpp"
#include "execute/emitter.hpp"
#include "execute/grants.hpp"
#include "execute/residency.hpp"

namespace sluice::arithmetic {

enum class State : std::uint8_t { waiting, delayed, setting_up, running };

struct StreamState {
  Cursor cursor;
  double free_at = 0;
  double started_at = 0;
  Cause cause;
  State state = State::waiting;
  bool flows = false;         ///< its transfer shares links
  std::uint32_t version = 0;  ///< of the event that counts
  double expected_at = 0;     ///< of that event
  // The action that it waits for, and the next stream that waits for the same.
  std::uint32_t awaited_action = none;
  std::int64_t awaited_iteration = 0;
  std::uint32_t next_waiter = none;
};

/// Something that happens to a stream: its action ends, begins to flow, or may be tried.
struct Event {
  double time;
  std::uint32_t stream;
  std::uint32_t version;
  bool operator>(const Event& other) const {
    return time > other.time || (time == other.time && stream > other.stream);
  }
};

/// How many iterations away waits and prefetches look.
std::int64_t reach_of(const Plan& plan);

class Replay {
 public:
  Replay(const Plan& plan, Sink* sink, const ReplayOptions& options)
      : plan_(plan),
        options_(options),
        tables_(plan),
        residency_(tables_),
        grants_(tables_, residency_, options.unlimited),
        arrivals_(tables_),
        sharing_(plan),
        streams_(plan.streams.size()),
        first_waiter_(plan.actions.size(), none) {
    if (sink) emitter_.emplace(plan, *sink);
    for (const Action& action : plan.actions)
      shares_.push_back(action.is_transfer() && action.bytes > 0 && !tables_.alone(action));
    for (std::uint32_t s = 0; s < streams_.size(); ++s) {
      streams_[s].cursor = Cursor(plan, tables_.stream_actions[s]);
      trying_.push_back(s);
    }
    result_.peaks = residency_.levels();
    if (options.jumps && plan.body_begin < plan.body_end && plan.iterations > few_iterations &&
        plan.iterations > 4 * reach_of(plan)) {
      leader_ = plan.actions[plan.body_begin].stream;
      period_.emplace(reach_of(plan));
    }
  }

  ReplayResult run() {
    go_on();
    for (std::uint64_t rounds = 1; next_event(); ++rounds) {
      if (rounds % 65536 == 0) look_up();
      round();
    }
    note_blocking();
    result_.reserved = grants_.reserved();
    for (std::size_t p = 0; p < plan_.pools.size(); ++p)
      if (plan_.pools[p].shared || !plan_.pools[p].limited())
        result_.reserved[p] = result_.peaks[p];
    return std::move(result_);
  }

 private:
  /// So few are executed: there is little to leave out.
  static constexpr std::int64_t few_iterations = 16;

  void look_up() {
    check_interrupt();
    if (options_.progress) options_.progress(executed_);
  }

  /// Is there another event that counts?
  bool next_event() {
    while (!events_.empty() && events_.top().version != streams_[events_.top().stream].version)
      events_.pop();
    return !events_.empty();
  }

  /// All that ends at the next time, by stream, then all that this makes possible.
  void round() {
    now_ = events_.top().time;
    ending_.clear();
    do {
      const std::uint32_t s = events_.top().stream;
      events_.pop();
      if (streams_[s].state == State::running)
        ending_.push_back(s);
      else if (streams_[s].state == State::setting_up)
        begin_to_flow(s);
      else
        trying_.push_back(s);
    } while (next_event() && events_.top().time == now_);
    for (const std::uint32_t s : ending_) finish(s);
    go_on();
    if (std::exchange(iteration_begins_, false)) look_for_period();
  }

  /// What may start now: what was granted room, what has waited for an end.
  void go_on() {
    if (grants_.unsettled()) {
      grants_.settle(granted_);
      start_granted();
    }
    for (std::size_t i = 0; i < trying_.size(); ++i) attempt(trying_[i]);
    trying_.clear();
    if (emitter_) emitter_->end_round();
    share_links();
    if (grants_.shared_unsettled() && (events_.empty() || events_.top().time > now_)) {
      grants_.settle_shared(granted_);
      start_granted();
      if (emitter_) emitter_->end_round();
      share_links();
    }
  }

  void start_granted() {
    for (const std::uint32_t s : granted_) {
      StreamState& stream = streams_[s];
      stream.cause.granted(now_, grants_.awaited(s), grants_.granted_by(s));
      note_grant(stream.cursor.action());
      start(s, now_);
    }
    granted_.clear();
  }

  void share_links() {
    if (!sharing_.changed()) return;
    for (const std::uint32_t s : sharing_.update(now_)) expect(s, sharing_.flow(s).end());
  }

  /// The next that happens to this stream; whatever was expected before does not happen.
  void expect(std::uint32_t s, double time) {
    streams_[s].expected_at = time;
    events_.push({time, s, ++streams_[s].version});
  }

  void attempt(std::uint32_t s) {
    StreamState& stream = streams_[s];
    if (stream.state != State::delayed) {
      stream.cursor.skip_dropped();
      if (stream.cursor.done() || !all_ended(s)) return;
      stream.cause = cause_of(stream);
    }
    const std::uint32_t a = stream.cursor.action();
    const double ready = stream.cause.ready;
    const bool allocates = !plan_.actions[a].allocates.empty();
    if (ready > now_ && (allocates || ready + tables_.seconds_alone(a) == ready)) {
      stream.state = State::delayed;
      return expect(s, ready);
    }
    stream.state = State::waiting;
    if (!allocates) return start(s, ready);
    if (grants_.limited(a)) {
      if (!grants_.request(s, a, stream.cursor.iteration(), now_)) return;
    } else {
      residency_.allocate(a, stream.cursor.iteration());
    }
    note_grant(a);
    start(s, now_);
  }

  /// Has all ended that its head waits for? Else it is entered among those that wait for the first
  /// that has not.
  bool all_ended(std::uint32_t s) {
    StreamState& stream = streams_[s];
    const std::uint32_t a = stream.cursor.action();
    for (const Wait& wait : tables_.waits(a)) {
      const std::int64_t target = tables_.awaited(a, stream.cursor.iteration(), wait);
      if (target < 0 || arrivals_.ended(wait.action, target)) continue;
      stream.awaited_action = wait.action;
      stream.awaited_iteration = target;
      stream.next_waiter = std::exchange(first_waiter_[wait.action], s);
      return false;
    }
    stream.awaited_action = none;
    return true;
  }

  Cause cause_of(const StreamState& stream) const {
    Cause cause{stream.free_at};
    const std::uint32_t a = stream.cursor.action();
    for (const Wait& wait : tables_.waits(a)) {
      const std::int64_t target = tables_.awaited(a, stream.cursor.iteration(), wait);
      if (target >= 0) arrivals_.raise(cause, wait.action, target);
    }
    return cause;
  }

  void note_grant(std::uint32_t a) {
    for (const Placement& placement : plan_.actions[a].allocates)
      result_.peaks[placement.pool] =
          std::max(result_.peaks[placement.pool], residency_.level(placement.pool));
    if (emitter_) emitter_->granted(now_, a);
  }

  void start(std::uint32_t s, double time) {
    StreamState& stream = streams_[s];
    const std::uint32_t a = stream.cursor.action();
    if (tables_.touches_memory(a)) residency_.require(a, stream.cursor.iteration());
    stream.started_at = time;
    stream.flows = shares_[a] != 0;
    if (!stream.flows) {
      stream.state = State::running;
      return expect(s, time + tables_.seconds_alone(a));
    }
    const double flowing = time + plan_.routes[plan_.actions[a].route].setup_s;
    stream.state = State::setting_up;
    if (flowing > now_) return expect(s, flowing);
    begin_to_flow(s);
  }

  void begin_to_flow(std::uint32_t s) {
    streams_[s].state = State::running;
    sharing_.start(s, streams_[s].cursor.action(), now_);
  }

  void finish(std::uint32_t s) {
    StreamState& stream = streams_[s];
    const std::uint32_t a = stream.cursor.action();
    const std::int64_t i = stream.cursor.iteration();
    const double available = now_ + tables_.latency(a);
    ++executed_;
    result_.makespan = std::max(result_.makespan, available);
    std::int64_t row = executed_ - 1;
    const Cause& cause = stream.cause;
    if (emitter_)
      row = emitter_->span({a, i, stream.started_at, now_, available,
                            stream.started_at - stream.free_at, cause.reason, cause.blocker,
                            cause.row});
    if (stream.flows) sharing_.stop(s);
    stream.state = State::waiting;
    stream.free_at = now_;
    stream.cursor.next();
    if (s == leader_) iteration_begins_ = stream.cursor.iteration() > i;
    arrivals_.end(a, i, now_, available, row);
    if (tables_.touches_memory(a))
      residency_.release(a, i, [&](const Placement& freed) {
        if (emitter_) emitter_->released(now_, freed);
        grants_.released(freed.pool, row);
      });
    wake(a, i);
    trying_.push_back(s);
  }

  /// Those that waited for this execution try again.
  void wake(std::uint32_t a, std::int64_t iteration) {
    std::uint32_t s = std::exchange(first_waiter_[a], none);
    while (s != none) {
      const std::uint32_t next = streams_[s].next_waiter;
      if (streams_[s].awaited_iteration <= iteration)
        trying_.push_back(s);
      else
        streams_[s].next_waiter = std::exchange(first_waiter_[a], s);
      s = next;
    }
  }

  // The steady state: periods.cpp.
  void look_for_period();
  Snapshot snapshot(std::int64_t iteration) const;
  void write(Snapshot& state, std::uint32_t s) const;
  void jump(const Jump& period);
  void skip(const Jump& jump);

  void note_blocking() {
    std::vector<Deadlock::Waiter> waiters;
    for (std::uint32_t s = 0; s < streams_.size(); ++s) {
      const StreamState& stream = streams_[s];
      if (stream.cursor.done()) continue;
      const bool memory = grants_.waits(s);
      waiters.push_back({stream.cursor.action(), stream.cursor.iteration(), stream.awaited_action,
                         stream.awaited_iteration, memory ? grants_.awaited(s) : none, 0,
                         grants_.earlier_requests(s)});
    }
    if (waiters.empty()) return;
    result_.blocking = residency_.blocking(now_, std::move(waiters));
    result_.makespan = now_;
  }

  const Plan& plan_;
  const ReplayOptions& options_;
  PlanTables tables_;
  Residency residency_;
  Grants grants_;
  Arrivals arrivals_;
  Sharing sharing_;
  std::optional<Emitter> emitter_;
  std::vector<StreamState> streams_;
  std::vector<std::uint32_t> first_waiter_;  ///< by action: streams that wait for it
  std::vector<char> shares_;                 ///< by action: a flow that others may meet
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<std::uint32_t> ending_, trying_, granted_;  ///< streams, in this round
  double now_ = 0;
  std::int64_t executed_ = 0;
  std::uint32_t leader_ = none;  ///< the stream whose iterations are counted
  bool iteration_begins_ = false;
  std::optional<PeriodSearch> period_;
  std::vector<Emitter::Mark> marks_;  ///< one for each state of the search
  ReplayResult result_;
};

}  // namespace sluice::arithmetic
