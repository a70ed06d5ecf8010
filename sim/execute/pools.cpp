#include "execute/pools.hpp"

#include <algorithm>
#include <tuple>

namespace sluice {

Pools::Pools(const PlanIndex& index, Instances& instances, Granted granted)
    : index_(index),
      instances_(instances),
      granted_(std::move(granted)),
      requests_(index.plan.streams.size()),
      queue_(index.plan.pools.size()) {
  for (const BySection& grants : index.pool_grants) {
    turn_.emplace_back(index.plan, grants);
    turn_.back().skip_dropped();
  }
}

void Pools::request(std::uint32_t stream, std::uint32_t action, std::int64_t iteration,
                    double time) {
  requests_[stream] = {true, false, action, iteration, time, none};
  for (const Demand& demand : index_.demands[action]) {
    if (!index_.plan.pools[demand.pool].shared) continue;
    auto& queue = queue_[demand.pool];
    queue.insert(std::upper_bound(queue.begin(), queue.end(), stream,
                                  [&](std::uint32_t a, std::uint32_t b) {
                                    return std::tie(requests_[a].time, a) <
                                           std::tie(requests_[b].time, b);
                                  }),
                 stream);
  }
}

bool Pools::settle(std::uint32_t stream) {
  Request& request = requests_[stream];
  request.settled = true;
  if (!request.open) return true;
  if (!grantable(stream)) return false;
  take(stream, request.time);
  return true;
}

void Pools::released(std::uint32_t pool, double time) {
  if (index_.plan.pools[pool].limited()) offer(pool, time);
}

std::uint32_t Pools::turn_before(std::uint32_t stream) const {
  const Request& request = requests_[stream];
  if (request.pool == none || index_.plan.pools[request.pool].shared) return none;
  const Cursor& turn = turn_[request.pool];
  const bool mine = turn.action() == request.action && turn.iteration() == request.iteration;
  return mine ? none : turn.action();
}

bool Pools::grantable(std::uint32_t stream) {
  Request& request = requests_[stream];
  if (!request.open || !request.settled) return false;
  for (const Demand& demand : index_.demands[request.action]) {
    const Pool& pool = index_.plan.pools[demand.pool];
    request.pool = demand.pool;
    const Cursor& turn = turn_[demand.pool];
    const bool next =
        pool.shared ? queue_[demand.pool].front() == stream
                    : turn.action() == request.action && turn.iteration() == request.iteration;
    if (!next || demand.bytes > *pool.capacity - instances_.level(demand.pool)) return false;
  }
  return true;
}

void Pools::take(std::uint32_t stream, double time) {
  Request& request = requests_[stream];
  request.open = false;
  request.pool = none;
  const auto& demands = index_.demands[request.action];
  for (const Demand& demand : demands) {
    if (index_.plan.pools[demand.pool].shared) {
      queue_[demand.pool].pop_front();
    } else {
      turn_[demand.pool].next();
      turn_[demand.pool].skip_dropped();
    }
  }
  instances_.allocate(request.action, request.iteration);
  granted_(stream, time);
  for (const Demand& demand : demands) offer(demand.pool, time);
}

void Pools::offer(std::uint32_t pool, double time) {
  std::uint32_t stream = none;
  if (index_.plan.pools[pool].shared) {
    if (!queue_[pool].empty()) stream = queue_[pool].front();
  } else if (!turn_[pool].done()) {
    stream = index_.plan.actions[turn_[pool].action()].stream;
  }
  if (stream == none || !grantable(stream)) return;
  take(stream, std::max(time, requests_[stream].time));
}

}  // namespace sluice
