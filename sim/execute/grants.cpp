#include "execute/grants.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace sluice {

Grants::Grants(const PlanTables& tables, Residency& residency, bool unlimited)
    : plan_(tables.plan),
      residency_(residency),
      unlimited_(unlimited),
      first_{0},
      reservations_(plan_.pools.size()),
      requests_(plan_.streams.size()),
      waiting_(plan_.pools.size()),
      changed_by_(plan_.pools.size(), -1),
      held_(plan_.pools.size(), 0),
      reserved_(residency.levels()) {
  for (const Pool& pool : plan_.pools) most_.push_back(pool.limited() ? pool.most() : 0);
  first_.reserve(plan_.actions.size() + 1);
  claims_.reserve(plan_.actions.size());
  for (std::uint32_t a = 0; a < plan_.actions.size(); ++a) {
    for (const auto& [pool, bytes] : tables.demands(a)) {
      const bool shared = plan_.pools[pool].shared();
      claims_.push_back(
          {pool, shared ? 0 : reservations_[pool].add(tables, a, bytes), bytes, shared});
    }
    first_.push_back(static_cast<std::uint32_t>(claims_.size()));
  }
}

bool Grants::granted_or_waits(std::uint32_t stream, std::uint32_t action, std::int64_t iteration,
                              double time) {
  Request& request = requests_[stream];
  request = {.open = true,
             .action = action,
             .iteration = iteration,
             .time = time,
             .place = listing_position(plan_, action, iteration)};
  const auto mine = claims(action);
  const bool shared =
      std::any_of(mine.begin(), mine.end(), [](auto& claim) { return claim.shared; });
  if (!shared && fits_everywhere(stream)) {
    take(stream);
    return true;
  }
  enqueue(stream);
  return false;
}

void Grants::settle(std::vector<std::uint32_t>& granted) {
  for (std::size_t i = 0; i < changed_.size(); ++i) settle_pool(changed_[i], granted);
  changed_.clear();
}

/// Grants each request that the reservation rule allows, in listing order. A request must leave room for all requests
/// that are listed earlier and do not fit yet.
void Grants::settle_pool(std::uint32_t pool, std::vector<std::uint32_t>& granted) {
  auto& waiting = waiting_[pool];
  for (std::size_t i = 0; i < waiting.size();) {
    const std::uint32_t stream = waiting[i].stream;
    const auto mine = claims(requests_[stream].action);
    const auto here = std::find_if(mine.begin(), mine.end(),
                                   [&](const Claim& claim) { return claim.pool == pool; });
    if (!fits(*here, stream)) return;
    if (std::any_of(mine.begin(), mine.end(), [](auto& claim) { return claim.shared; })) {
      shared_changed_ = true;
      ++i;
    } else if (fits_everywhere(stream)) {
      take(stream);  // also removes the request from `waiting`
      granted.push_back(stream);
    } else {
      ++i;
    }
  }
}

void Grants::settle_shared(std::vector<std::uint32_t>& granted) {
  while (std::exchange(shared_changed_, false))
    for (std::uint32_t p = 0; p < waiting_.size(); ++p) {
      if (!plan_.pools[p].shared()) continue;
      while (!waiting_[p].empty() && fits_everywhere(waiting_[p].front().stream)) {
        const std::uint32_t stream = waiting_[p].front().stream;
        take(stream);
        granted.push_back(stream);
        shared_changed_ = true;
      }
    }
}

std::int64_t Grants::earlier_requests(std::uint32_t stream) const {
  const Request& request = requests_[stream];
  if (!request.open || request.pool == none) return 0;
  return reservations_[request.pool].earlier_requests(request.place);
}

void Grants::write(Snapshot& snapshot) const {
  for (std::uint32_t p = 0; p < waiting_.size(); ++p) {
    snapshot.add(residency_.level(p));
    reservations_[p].write(snapshot);
    snapshot.add(static_cast<std::int64_t>(waiting_[p].size()));
    for (const Waiting& waiting : waiting_[p]) snapshot.add(waiting.stream);
    if (!waiting_[p].empty()) snapshot.add_row(changed_by_[p]);
  }
  for (const Request& request : requests_) {
    snapshot.add(request.open);
    if (!request.open) continue;
    snapshot.add(request.action);
    if (plan_.section_of(request.action) == Section::body)
      snapshot.add_iteration(request.iteration);
    snapshot.add(request.pool);
  }
}

void Grants::skip(const Jump& jump) {
  for (Reservation& reservation : reservations_) reservation.skip(jump);
  for (std::int64_t& row : changed_by_)
    if (row >= 0) row += jump.rows;
  for (Request& request : requests_) {
    if (!request.open || plan_.section_of(request.action) != Section::body) continue;
    request.iteration += jump.iterations;
    request.place.round += jump.iterations;
    request.time += jump.seconds;
  }
  for (auto& waiting : waiting_)
    for (Waiting& one : waiting) one.place = requests_[one.stream].place;
}

std::int64_t Grants::most_iterations() const {
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const Request& request : requests_) {
    if (!request.open || plan_.section_of(request.action) != Section::epilogue) continue;
    const Pool& pool = plan_.pools[request.pool];
    const WideBytes each = reservations_[request.pool].bytes_an_iteration();
    if (pool.shared() || each == 0) continue;
    const WideBytes enough = std::numeric_limits<WideBytes>::max();
    const WideBytes beyond =
        reservations_[request.pool].earlier(request.place, enough) - WideBytes{pool.most()};
    most = static_cast<std::int64_t>(std::clamp<WideBytes>(beyond / each, 0, most));
  }
  return most;
}

/// A claim is the part of a request that is for one pool. Returns whether the claim fits into its
/// pool. If it fits, `held_` gets the sum of bytes that was compared with the pool's capacity.
bool Grants::fits(const Claim& claim, std::uint32_t stream) {
  const std::int64_t level = residency_.level(claim.pool);
  const WideBytes own = WideBytes{level} + claim.bytes;
  if (claim.shared) {
    held_[claim.pool] = static_cast<std::int64_t>(own);
    return waiting_[claim.pool].front().stream == stream &&
           (unlimited_ || own <= most_[claim.pool]);
  }
  constexpr WideBytes most = std::numeric_limits<std::int64_t>::max();
  const WideBytes capacity = unlimited_ ? most : WideBytes{most_[claim.pool]};
  if (own > capacity && !unlimited_) return false;
  const WideBytes sum =
      own + reservations_[claim.pool].earlier(requests_[stream].place, capacity - own);
  held_[claim.pool] = static_cast<std::int64_t>(std::min(sum, most));
  return unlimited_ || sum <= capacity;
}

bool Grants::fits_everywhere(std::uint32_t stream) {
  Request& request = requests_[stream];
  for (const Claim& claim : claims(request.action))
    if (!fits(claim, stream)) {
      request.pool = claim.pool;
      return false;
    }
  return true;
}

void Grants::take(std::uint32_t stream) {
  Request& request = requests_[stream];
  if (request.pool != none) {
    request.granted_by = changed_by_[request.pool];
    leave_queues(stream);
  }
  request.open = false;
  for (const Claim& claim : claims(request.action)) {
    reserved_[claim.pool] = std::max(reserved_[claim.pool], held_[claim.pool]);
    if (!claim.shared) reservations_[claim.pool].grant(claim.queue);
  }
  residency_.allocate(request.action, request.iteration);
}

/// Puts a request into the queue of each pool from which it needs bytes. The queue of a device's pool is in listing
/// order. The queue of a shared pool is in the order in which the requests are made. In this queue, requests of one
/// moment are in the order of their streams' numbers.
void Grants::enqueue(std::uint32_t stream) {
  Request& request = requests_[stream];
  for (const Claim& claim : claims(request.action)) {
    if (claim.shared) shared_changed_ = true;
    if (claim.shared && request.pool == none) request.pool = claim.pool;
    auto& waiting = waiting_[claim.pool];
    const auto before = [&](const Waiting& mine, const Waiting& other) {
      if (!claim.shared) return mine.place < other.place;
      return std::tie(requests_[mine.stream].time, mine.stream) <
             std::tie(requests_[other.stream].time, other.stream);
    };
    const Waiting mine{request.place, stream};
    waiting.insert(std::upper_bound(waiting.begin(), waiting.end(), mine, before), mine);
  }
}

void Grants::leave_queues(std::uint32_t stream) {
  for (const Claim& claim : claims(requests_[stream].action)) {
    if (claim.shared) changed_by_[claim.pool] = requests_[stream].granted_by;
    auto& waiting = waiting_[claim.pool];
    waiting.erase(std::find_if(waiting.begin(), waiting.end(),
                               [&](const Waiting& other) { return other.stream == stream; }));
  }
}

}  // namespace sluice
