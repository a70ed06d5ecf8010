#include "execute/arithmetic/replay.hpp"

#include <algorithm>
#include <deque>
#include <queue>

#include "base/interrupt.hpp"
#include "execute/instances.hpp"

namespace sluice {

namespace {

/// Repeated transfers that have ended but not arrived yet (those with a latency only).
struct InFlight {
  std::int64_t iteration;
  double arrival;
};

struct StreamState {
  Cursor cursor;
  double free_at = 0;
  bool running = false;
  std::uint32_t waits_for_pool = none;
  std::uint32_t waits_for_action = none;
  std::int64_t waits_for_iteration = 0;
  std::uint32_t next_waiter = none;  ///< in the list of those that wait for the same action
  double requested_at = 0;
};

struct Event {
  double time;
  std::uint32_t stream;
  bool operator>(const Event& other) const {
    return time > other.time || (time == other.time && stream > other.stream);
  }
};

class Replay {
 public:
  Replay(const Plan& plan, const std::function<void(const Executed&)>& observer)
      : plan_(plan),
        index_(plan),
        observer_(observer),
        instances_(index_),
        streams_(plan.streams.size()),
        done_(plan.actions.size(), 0),
        first_waiter_(plan.actions.size(), none),
        last_arrival_(plan.actions.size(), 0),
        in_flight_(plan.actions.size()),
        turn_(plan.pools.size()),
        queue_(plan.pools.size()) {
    for (std::size_t s = 0; s < streams_.size(); ++s)
      streams_[s].cursor = Cursor(plan, index_.stream_actions[s]);
    for (std::size_t p = 0; p < plan.pools.size(); ++p) {
      turn_[p] = Cursor(plan, index_.pool_grants[p]);
      turn_[p].skip_dropped();
    }
    result_.peaks = instances_.levels();
    result_.exact = index_.contention_free();
  }

  ReplayResult run() {
    for (std::uint32_t s = 0; s < streams_.size(); ++s) attempt(s);
    grant_shared();
    for (std::uint64_t steps = 1; !events_.empty(); ++steps) {
      if (steps % 65536 == 0) check_interrupt();
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      if (streams_[event.stream].running)
        finish(event.stream);
      else
        attempt(event.stream);
      if (events_.empty() || events_.top().time > now_) grant_shared();
    }
    note_blocking();
    return std::move(result_);
  }

 private:
  void attempt(std::uint32_t s) {
    StreamState& stream = streams_[s];
    stream.cursor.skip_dropped();
    if (stream.cursor.done()) return;
    const std::uint32_t a = stream.cursor.action();
    double ready = stream.free_at;
    for (const Wait& wait : index_.waits(a))
      if (!look(stream, s, a, wait, ready)) return;
    if (ready > now_) {
      events_.push({ready, s});
      return;
    }
    request(s, a);
  }

  /// Is this wait over? Raises `ready` to the arrival; else enters the stream among the waiters.
  bool look(StreamState& stream, std::uint32_t s, std::uint32_t a, const Wait& wait,
            double& ready) {
    const std::int64_t target = index_.awaited(a, stream.cursor.iteration(), wait);
    if (target < 0) return true;
    if (done_[wait.action] <= target) {
      stream.waits_for_action = wait.action;
      stream.waits_for_iteration = target;
      stream.next_waiter = std::exchange(first_waiter_[wait.action], s);
      return false;
    }
    if (done_[wait.action] == target + 1) {
      ready = std::max(ready, last_arrival_[wait.action]);
    } else if (index_.latency(wait.action) > 0) {
      for (const InFlight& flight : in_flight_[wait.action])
        if (flight.iteration == target) ready = std::max(ready, flight.arrival);
    }
    return true;
  }

  void request(std::uint32_t s, std::uint32_t a) {
    const auto& demands = index_.demands[a];
    if (demands.empty()) return start(s);
    streams_[s].waits_for_pool = demands.front().pool;
    streams_[s].requested_at = now_;
    bool shared = false;
    for (const Demand& demand : demands)
      if (plan_.pools[demand.pool].shared) {
        shared = true;
        auto& queue = queue_[demand.pool];
        auto later = std::find_if(queue.begin(), queue.end(), [&](std::uint32_t other) {
          return streams_[other].requested_at == now_ && other > s;
        });
        queue.insert(later, s);
      }
    if (shared)
      new_shared_requests_ = true;
    else
      grant(s);
  }

  /// Can each pool grant the head of this stream now? Remembers the pool that cannot.
  bool grantable(std::uint32_t s) {
    StreamState& stream = streams_[s];
    if (stream.waits_for_pool == none) return false;
    const std::uint32_t a = stream.cursor.action();
    for (const Demand& demand : index_.demands[a]) {
      const Pool& pool = plan_.pools[demand.pool];
      stream.waits_for_pool = demand.pool;
      if (demand.bytes > *pool.capacity - instances_.level(demand.pool)) return false;
      if (pool.shared ? queue_[demand.pool].front() != s
                      : turn_[demand.pool].action() != a ||
                            turn_[demand.pool].iteration() != stream.cursor.iteration())
        return false;
    }
    return true;
  }

  void grant(std::uint32_t s) {
    if (!grantable(s)) return;
    const std::uint32_t a = streams_[s].cursor.action();
    streams_[s].waits_for_pool = none;
    for (const Demand& demand : index_.demands[a]) {
      if (plan_.pools[demand.pool].shared) {
        queue_[demand.pool].pop_front();
      } else {
        turn_[demand.pool].next();
        turn_[demand.pool].skip_dropped();
      }
    }
    start(s);
    for (const Demand& demand : index_.demands[a]) pool_changed(demand.pool);
  }

  /// A pool has room or another turn: whose request is next?
  void pool_changed(std::uint32_t p) {
    if (!plan_.pools[p].limited()) return;
    if (plan_.pools[p].shared) {
      new_shared_requests_ = true;
      return;
    }
    if (turn_[p].done()) return;
    const std::uint32_t a = turn_[p].action();
    const std::uint32_t s = plan_.actions[a].stream;
    const StreamState& stream = streams_[s];
    if (stream.waits_for_pool != none && stream.cursor.action() == a &&
        stream.cursor.iteration() == turn_[p].iteration())
      grant(s);
  }

  /// Requests in shared pools are granted when all that happens at this moment has happened, in the
  /// order of (time of the request, stream).
  void grant_shared() {
    while (std::exchange(new_shared_requests_, false))
      for (std::uint32_t p = 0; p < plan_.pools.size(); ++p)
        while (!queue_[p].empty() && grantable(queue_[p].front())) grant(queue_[p].front());
  }

  void start(std::uint32_t s) {
    StreamState& stream = streams_[s];
    const std::uint32_t a = stream.cursor.action();
    if (index_.touches_memory(a)) take_memory(a, stream.cursor.iteration());
    stream.running = true;
    started_at(s) = now_;
    events_.push({now_ + index_.seconds_alone(a), s});
  }

  void take_memory(std::uint32_t a, std::int64_t iteration) {
    instances_.allocate(a, iteration);
    instances_.require(a, iteration);
    for (const Placement& placement : plan_.actions[a].allocates)
      result_.peaks[placement.pool] =
          std::max(result_.peaks[placement.pool], instances_.level(placement.pool));
  }

  void finish(std::uint32_t s) {
    StreamState& stream = streams_[s];
    const std::uint32_t a = stream.cursor.action();
    const std::int64_t i = stream.cursor.iteration();
    stream.running = false;
    stream.free_at = now_;
    const double latency = index_.latency(a);
    const double available = now_ + latency;
    last_arrival_[a] = available;
    if (latency > 0 && index_.repeats(a)) {
      auto& flights = in_flight_[a];
      std::erase_if(flights, [&](const InFlight& flight) { return flight.arrival <= now_; });
      flights.push_back({i, available});
    }
    result_.makespan = std::max(result_.makespan, available);
    if (observer_) observer_({a, i, started_at(s), now_, available});
    stream.cursor.next();
    if (!index_.touches_memory(a)) {
      complete(a, i);
      return attempt(s);
    }
    std::vector<std::uint32_t> changed;
    instances_.release(a, i, [&](const Placement& freed) { changed.push_back(freed.pool); });
    complete(a, i);
    for (std::uint32_t pool : changed) pool_changed(pool);
    attempt(s);
  }

  void complete(std::uint32_t a, std::int64_t iteration) {
    done_[a] = iteration + 1;
    std::uint32_t s = std::exchange(first_waiter_[a], none);
    while (s != none) {
      StreamState& stream = streams_[s];
      const std::uint32_t next = stream.next_waiter;
      if (stream.waits_for_iteration <= iteration) {
        stream.waits_for_action = none;
        attempt(s);
      } else {
        stream.next_waiter = std::exchange(first_waiter_[a], s);
      }
      s = next;
    }
  }

  void note_blocking() {
    std::vector<Blocking::Waiter> waiters;
    for (const StreamState& stream : streams_)
      if (!stream.cursor.done())
        waiters.push_back({stream.cursor.action(), stream.cursor.iteration(),
                           stream.waits_for_action, stream.waits_for_iteration,
                           stream.waits_for_pool, 0});
    if (waiters.empty()) return;
    result_.blocking = instances_.blocking(now_, std::move(waiters));
    result_.makespan = now_;
  }

  double& started_at(std::uint32_t s) { return streams_[s].requested_at; }

  const Plan& plan_;
  PlanIndex index_;
  const std::function<void(const Executed&)>& observer_;
  Instances instances_;
  std::vector<StreamState> streams_;
  std::vector<std::int64_t> done_;  ///< by action: executions that have ended (iteration + 1)
  std::vector<std::uint32_t> first_waiter_;  ///< by action: streams that wait for it
  std::vector<double> last_arrival_;         ///< of its last execution
  std::vector<std::vector<InFlight>> in_flight_;
  std::vector<Cursor> turn_;                      ///< by pool: whose allocation is next
  std::vector<std::deque<std::uint32_t>> queue_;  ///< by shared pool: streams that asked
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  bool new_shared_requests_ = false;
  double now_ = 0;
  ReplayResult result_;
};

}  // namespace

ReplayResult replay(const Plan& plan, const std::function<void(const Executed&)>& observer) {
  return Replay(plan, observer).run();
}

}  // namespace sluice
