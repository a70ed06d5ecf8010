#include "execute/reservation.hpp"

#include <algorithm>

namespace sluice {

std::uint32_t Reservation::add(const PlanTables& tables, std::uint32_t action, std::int64_t bytes) {
  RequestQueue& mine = queue_of(tables, action);
  if (mine.actions.empty() && mine.first_round < mine.end_round)
    mine.next = {mine.first_round, action};
  mine.actions.push_back(action);
  mine.before.push_back(mine.before.back() + bytes);
  return static_cast<std::uint32_t>(&mine - queues_.data());
}

/// Returns the request queue of this action. If the queue does not exist, makes it. The action is usually in the same
/// queue as the previous action. So this queue is tried first.
Reservation::RequestQueue& Reservation::queue_of(const PlanTables& tables, std::uint32_t action) {
  const Plan& plan = tables.plan;
  const std::uint32_t stream = tables.stream(action);
  const Section section = plan.section_of(action);
  const std::int32_t ahead = section == Section::body ? tables.ahead(action) : 0;
  const auto has_it = [&](const RequestQueue& queue) {
    return queue.stream == stream && queue.section == section && queue.ahead == ahead;
  };
  if (latest_ < queues_.size() && has_it(queues_[latest_])) return queues_[latest_];
  const auto found = std::find_if(queues_.begin(), queues_.end(), has_it);
  latest_ = static_cast<std::size_t>(found - queues_.begin());
  if (found != queues_.end()) return *found;
  RequestQueue& fresh = queues_.emplace_back();
  fresh.stream = stream;
  fresh.section = section;
  fresh.ahead = ahead;
  fresh.first_round = listing_position(plan, action, 0).round;
  fresh.end_round = fresh.first_round + 1;
  if (section == Section::body) {
    fresh.first_round = 1 + std::clamp<std::int64_t>(-std::int64_t{ahead}, 0, plan.iterations);
    fresh.end_round = 1 + std::clamp<std::int64_t>(plan.iterations - ahead, 0, plan.iterations);
  }
  fresh.next = nowhere;
  return fresh;
}

std::int64_t Reservation::earlier_requests(const ListingPosition& place) const {
  std::int64_t count = 0;
  for (const RequestQueue& queue : queues_)
    if (queue.next < place) count += queue.listed(place).requests - queue.granted.requests;
  return count;
}

WideBytes Reservation::bytes_an_iteration() const {
  WideBytes sum = 0;
  for (const RequestQueue& queue : queues_)
    if (queue.section == Section::body && queue.next != nowhere) sum += queue.before.back();
  return sum;
}

void Reservation::write(Snapshot& snapshot) const {
  for (const RequestQueue& queue : queues_) {
    snapshot.add(static_cast<std::int64_t>(queue.position));
    if (queue.section == Section::body && queue.next != nowhere)
      snapshot.add_iteration(queue.next.round);
    else
      snapshot.add(queue.next.round);
  }
}

void Reservation::skip(const Jump& jump) {
  for (RequestQueue& queue : queues_) {
    if (queue.section != Section::body || queue.next == nowhere) continue;
    queue.next.round += jump.iterations;
    queue.granted.bytes += queue.before.back() * jump.iterations;
    queue.granted.requests += static_cast<std::int64_t>(queue.actions.size()) * jump.iterations;
  }
}

Reservation::Sum Reservation::RequestQueue::listed(const ListingPosition& place) const {
  const std::int64_t rounds = std::clamp(place.round, first_round, end_round) - first_round;
  Sum sum{before.back() * rounds, static_cast<std::int64_t>(actions.size()) * rounds};
  if (place.round < first_round || place.round >= end_round) return sum;
  const auto found = std::lower_bound(actions.begin(), actions.end(), place.action);
  const auto partial = static_cast<std::size_t>(found - actions.begin());
  sum.bytes += before[partial];
  sum.requests += static_cast<std::int64_t>(partial);
  return sum;
}

}  // namespace sluice
