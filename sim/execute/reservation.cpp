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

/// Returns the lane of this action, and makes a new one if there is none. Mostly it is the lane of the action that is
/// listed just before, so that lane is tried first.
Reservation::Lane& Reservation::lane(const PlanTables& tables, std::uint32_t action) {
  const Plan& plan = tables.plan;
  const std::uint32_t stream = tables.stream(action);
  const Section section = plan.section_of(action);
  const std::int32_t ahead = section == Section::body ? tables.ahead(action) : 0;
  const auto has_it = [&](const Lane& lane) {
    return lane.stream == stream && lane.section == section && lane.ahead == ahead;
  };
  if (latest_ < lanes_.size() && has_it(lanes_[latest_])) return lanes_[latest_];
  const auto found = std::find_if(lanes_.begin(), lanes_.end(), has_it);
  latest_ = static_cast<std::size_t>(found - lanes_.begin());
  if (found != lanes_.end()) return *found;
  Lane& fresh = lanes_.emplace_back();
  fresh.stream = stream;
  fresh.section = section;
  fresh.ahead = ahead;
  fresh.first_round = place_of(plan, action, 0).round;
  fresh.end_round = fresh.first_round + 1;
  if (section == Section::body) {
    fresh.first_round = 1 + std::clamp<std::int64_t>(-std::int64_t{ahead}, 0, plan.iterations);
    fresh.end_round = 1 + std::clamp<std::int64_t>(plan.iterations - ahead, 0, plan.iterations);
  }
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
    if (lane.section == Section::body && lane.next != nowhere) sum += lane.before.back();
  return sum;
}

void Reservation::write(Snapshot& snapshot) const {
  for (const Lane& lane : lanes_) {
    snapshot.add(static_cast<std::int64_t>(lane.position));
    if (lane.section == Section::body && lane.next != nowhere)
      snapshot.add_iteration(lane.next.round);
    else
      snapshot.add(lane.next.round);
  }
}

void Reservation::skip(const Jump& jump) {
  for (Lane& lane : lanes_) {
    if (lane.section != Section::body || lane.next == nowhere) continue;
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
