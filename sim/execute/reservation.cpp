#include "execute/reservation.hpp"

#include <algorithm>

namespace sluice {

std::uint32_t Reservation::add(const PlanTables& tables, std::uint32_t action, std::int64_t bytes) {
  Lane& mine = lane(tables, action);
  if (mine.actions.empty() && mine.first_round < mine.end_round)
    mine.next = {mine.first_round, action};
  mine.actions.push_back(action);
  mine.before.push_back(mine.before.back() + bytes);
  return static_cast<std::uint32_t>(&mine - lanes_.data());
}

/// Returns the lane of this action; makes a new one if there is none.
Reservation::Lane& Reservation::lane(const PlanTables& tables, std::uint32_t action) {
  const Plan& plan = tables.plan;
  const std::uint32_t stream = tables.stream(action);
  const bool body = plan.section_of(action) == Section::body;
  const std::int32_t ahead = body ? tables.ahead(action) : 0;
  std::int64_t first = place_of(plan, action, 0).round, end = first + 1;
  if (body) {
    first = 1 + std::clamp<std::int64_t>(-std::int64_t{ahead}, 0, plan.iterations);
    end = 1 + std::clamp<std::int64_t>(plan.iterations - ahead, 0, plan.iterations);
  }
  for (Lane& lane : lanes_)
    if (lane.stream == stream && lane.ahead == ahead && lane.first_round == first &&
        lane.end_round == end)
      return lane;
  Lane& fresh = lanes_.emplace_back();
  fresh.stream = stream;
  fresh.ahead = ahead;
  fresh.body = body;
  fresh.first_round = first;
  fresh.end_round = end;
  fresh.next = nowhere;
  return fresh;
}

std::int64_t Reservation::earlier_requests(const Place& place) const {
  std::int64_t count = 0;
  for (const Lane& lane : lanes_)
    if (lane.next < place) count += lane.listed(place).requests - lane.granted.requests;
  return count;
}

WideBytes Reservation::bytes_an_iteration() const {
  WideBytes sum = 0;
  for (const Lane& lane : lanes_)
    if (lane.body && lane.next != nowhere) sum += lane.before.back();
  return sum;
}

void Reservation::write(Snapshot& snapshot) const {
  for (const Lane& lane : lanes_) {
    snapshot.add(static_cast<std::int64_t>(lane.position));
    if (lane.body && lane.next != nowhere)
      snapshot.add_iteration(lane.next.round);
    else
      snapshot.add(lane.next.round);
  }
}

void Reservation::skip(const Jump& jump) {
  for (Lane& lane : lanes_) {
    if (!lane.body || lane.next == nowhere) continue;
    lane.next.round += jump.iterations;
    lane.granted.bytes += lane.before.back() * jump.iterations;
    lane.granted.requests += static_cast<std::int64_t>(lane.actions.size()) * jump.iterations;
  }
}

Reservation::Sum Reservation::Lane::listed(const Place& place) const {
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
