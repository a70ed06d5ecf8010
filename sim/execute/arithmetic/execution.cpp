#include "execute/arithmetic/execution.hpp"

#include <algorithm>
#include <utility>

#include "base/interrupt.hpp"

namespace sluice::arithmetic {

Replay::Replay(const PlanTables& tables, Sink* sink, const ReplayOptions& options)
    : plan_(tables.plan),
      options_(options),
      tables_(tables),
      occupancy_(tables_),
      residency_(tables_),
      grants_(tables_, residency_, options.unlimited),
      arrivals_(tables_),
      streams_(plan_.streams.size()),
      first_waiter_(plan_.actions.size(), none) {
  if (options.worth) least_end_.emplace(*options.worth);
  if (sink) emitter_.emplace(tables_, *sink, options.until_period);
  add_flow_places();
  for (std::uint32_t s = 0; s < streams_.size(); ++s) {
    streams_[s].cursor = Cursor(tables_, s);
    trying_.push_back(s);
  }
  result_.peaks = residency_.levels();
  if (options.jumps && !options.worth && may_repeat(plan_)) {
    leader_ = plan_.actions[plan_.body_begin].stream;
    period_.emplace(reach_of(plan_));
  }
}

void Replay::add_flow_places() {
  std::vector<std::uint32_t> most(streams_.size(), 0);
  for (std::uint32_t a = 0; a < plan_.actions.size(); ++a) {
    std::uint32_t& own = most[tables_.stream(a)];
    own = std::max(own, static_cast<std::uint32_t>(occupancy_.shared(a).size()));
  }
  for (std::uint32_t s = 0; s < streams_.size(); ++s) {
    first_flow_.push_back(static_cast<std::uint32_t>(flows_.size()));
    flows_.resize(flows_.size() + most[s], FlowState{.stream = s});
  }
  sharing_.emplace(plan_, flows_.size());
}

ReplayResult Replay::run() {
  go_on();
  for (std::uint64_t rounds = 1; !too_long() && next_event(); ++rounds) {
    if (rounds % 65536 == 0) look_up();
    round();
    if (seen_enough_) return std::move(result_);
  }
  if (too_long())
    result_.makespan = least_end_->seconds();
  else
    note_blocking();
  result_.reserved = grants_.reserved();
  for (std::size_t p = 0; p < plan_.pools.size(); ++p)
    if (plan_.pools[p].shared() || !plan_.pools[p].limited())
      result_.reserved[p] = result_.peaks[p];
  return std::move(result_);
}

void Replay::look_up() {
  check_interrupt();
  if (options_.progress) options_.progress(executed_);
}

/// Removes events that are no longer valid, until the first event in the queue is valid. Returns
/// false if no valid event is left.
inline bool Replay::next_event() {
  const auto counts = [&](const Event& event) {
    return event.version ==
           (event.flow == none ? streams_[event.stream].version : flows_[event.flow].version);
  };
  while (!events_.empty() && !counts(events_.top())) events_.pop();
  return !events_.empty();
}

/// Moves to the time of the next event. Handles all actions and flows that end at this time, in the order of the
/// streams. Then handles all grants and starts that these ends allow.
inline void Replay::round() {
  now_ = events_.top().time;
  ending_.clear();
  do {
    const Event event = events_.top();
    events_.pop();
    happen(event);
  } while (next_event() && events_.top().time == now_);
  for (const std::uint32_t s : ending_) finish(s);
  go_on();
  if (std::exchange(iteration_begins_, false)) look_for_period();
}

inline void Replay::happen(const Event& event) {
  if (event.flow == none) {
    if (streams_[event.stream].state != State::running) return trying_.push_back(event.stream);
    streams_[event.stream].own_left = false;
    return part_ends(event.stream);
  }
  FlowState& flow = flows_[event.flow];
  if (flow.is == FlowState::Is::setting_up) return begin_to_flow(event.flow);
  sharing_->stop(event.flow);
  flow.is = FlowState::Is::idle;
  part_ends(event.stream);
}

inline void Replay::part_ends(std::uint32_t s) {
  if (--streams_[s].parts == 0) ending_.push_back(s);
}

/// Starts the actions that may start now: actions to which a pool has just granted bytes, and actions whose waits have
/// ended.
inline void Replay::go_on() {
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

void Replay::start_granted() {
  for (const std::uint32_t s : granted_) {
    StreamState& stream = streams_[s];
    stream.cause.consider_grant(now_, grants_.awaited(s), grants_.granted_by(s));
    note_grant(stream.cursor.action());
    start(s, now_);
  }
  granted_.clear();
}

void Replay::share_links() {
  if (!sharing_->changed()) return;
  for (const std::uint32_t f : sharing_->update(now_)) expect_flow(f, sharing_->flow(f).end());
}

/// Sets the time of the stream's next event. The event that was set before becomes invalid.
void Replay::expect(std::uint32_t s, double time) {
  streams_[s].expected_at = time;
  events_.push({time, s, none, ++streams_[s].version});
}

void Replay::expect_flow(std::uint32_t f, double time) {
  flows_[f].expected_at = time;
  events_.push({time, flows_[f].stream, f, ++flows_[f].version});
}

inline void Replay::attempt(std::uint32_t s) {
  StreamState& stream = streams_[s];
  if (stream.state != State::delayed) {
    stream.cursor.skip_dropped();
    if (stream.cursor.done() || !all_ended(s)) return;
    stream.cause =
        arrivals_.start_reason(stream.free_at, stream.cursor.action(), stream.cursor.iteration());
  }
  const std::uint32_t a = stream.cursor.action();
  const double ready = stream.cause.ready;
  const bool allocates = !tables_.allocations(a).empty();
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

/// Returns true if the stream's next action waits only for executions that have ended. Otherwise makes the stream wait
/// for one of the other executions, and returns false.
inline bool Replay::all_ended(std::uint32_t s) {
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

inline void Replay::note_grant(std::uint32_t a) {
  for (const Allocation& made : tables_.allocations(a)) {
    std::int64_t& peak = result_.peaks[made.placement.pool];
    peak = std::max(peak, residency_.level(made.placement.pool));
  }
  if (emitter_) emitter_->granted(now_, a);
}

inline void Replay::start(std::uint32_t s, double time) {
  StreamState& stream = streams_[s];
  const std::uint32_t a = stream.cursor.action();
  if (tables_.touches_memory(a)) residency_.require(a, stream.cursor.iteration());
  if (least_end_) least_end_->starts(a, stream.cursor.iteration(), time);
  stream.started_at = time;
  stream.state = State::running;
  stream.own_left = occupancy_.has_own(a);
  const auto shared = occupancy_.shared(a);
  stream.parts = static_cast<std::uint32_t>(shared.size()) + (stream.own_left ? 1 : 0);
  if (stream.own_left) expect(s, time + occupancy_.own(a));
  for (std::uint32_t k = 0; k < shared.size(); ++k) {
    const std::uint32_t f = first_flow_[s] + k;
    const double flowing = time + plan_.routes[plan_.actions[a].flows[shared[k]].route].setup_s;
    flows_[f].is = FlowState::Is::setting_up;
    if (flowing > now_)
      expect_flow(f, flowing);
    else
      begin_to_flow(f);
  }
}

void Replay::begin_to_flow(std::uint32_t f) {
  flows_[f].is = FlowState::Is::flowing;
  if (least_end_) least_end_->begins(plan_, flow_in(f), *sharing_, now_);
  sharing_->start(f, flow_in(f), now_);
}

inline void Replay::finish(std::uint32_t s) {
  StreamState& stream = streams_[s];
  const std::uint32_t a = stream.cursor.action();
  const std::int64_t i = stream.cursor.iteration();
  const double available = now_ + tables_.latency(a);
  ++executed_;
  result_.makespan = std::max(result_.makespan, available);
  std::int64_t row = executed_ - 1;
  const StartReason& cause = stream.cause;
  if (emitter_)
    row = emitter_->span({a, i, stream.started_at, now_, available,
                          stream.started_at - stream.free_at, cause.reason, cause.blocker,
                          cause.row});
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

/// The execution of action `a` in `iteration` has ended. Makes the streams that waited for it check their waits again.
inline void Replay::wake(std::uint32_t a, std::int64_t iteration) {
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

void Replay::note_blocking() {
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

}  // namespace sluice::arithmetic
