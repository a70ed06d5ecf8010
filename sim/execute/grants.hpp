// Decides when the pools of a running plan grant bytes to its actions. Grants are exact to the byte. An action gets its
// bytes in all pools at the same time. Both executors use this class. The class does not compare times: the caller
// makes the calls in the order of time.
//
// A pool that one device owns grants bytes by the rule of reservation (reservation.hpp). A shared pool grants requests
// in the order in which they are made. Requests of one moment are granted in the order of their streams.
// settle_shared() makes the grants of shared pools. Call it only after all requests of a moment have been made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "execute/reservation.hpp"
#include "execute/residency.hpp"

namespace sluice {

class Grants {
 public:
  /// If `unlimited` is true, every request is granted at once. reserved() is computed nevertheless.
  Grants(const PlanTables& tables, Residency& residency, bool unlimited);

  /// Returns whether this action requests bytes of a limited pool.
  bool limited(std::uint32_t action) const { return first_[action] < first_[action + 1]; }
  /// Makes a request for the bytes that `action`, the next action of `stream`, allocates. Returns
  /// true if the bytes are granted at once. In this case, the tensors of the action are now in
  /// their pools. Otherwise returns false, and settle() or settle_shared() will grant the bytes
  /// later.
  bool request(std::uint32_t stream, std::uint32_t action, std::int64_t iteration, double time) {
    return granted_at_once(stream, action, iteration) ||
           granted_or_waits(stream, action, iteration, time);
  }
  /// Records that the span in row `row` of the trace has released bytes in this pool.
  void released(std::uint32_t pool, std::int64_t row) {
    changed_by_[pool] = row;
    if (waiting_[pool].empty()) return;
    if (plan_.pools[pool].shared())
      shared_changed_ = true;
    else
      changed_.push_back(pool);
  }
  bool unsettled() const { return !changed_.empty(); }
  /// Grants the requests that the releases of this moment have made possible, and adds their streams to `granted`.
  void settle(std::vector<std::uint32_t>& granted);
  bool shared_unsettled() const { return shared_changed_; }
  /// Grants requests in shared pools. Call this function after all ends and requests of a moment.
  void settle_shared(std::vector<std::uint32_t>& granted);

  /// Returns the pool for which the latest request of this stream waits or waited. If this request was granted at once,
  /// returns `none`.
  std::uint32_t awaited(std::uint32_t stream) const { return requests_[stream].pool; }
  /// Returns the row of the span whose release made the latest grant to this stream possible.
  std::int64_t granted_by(std::uint32_t stream) const { return requests_[stream].granted_by; }
  /// Returns the number of requests that are listed before the request of this stream and are not granted yet. The
  /// request must leave room for them.
  std::int64_t earlier_requests(std::uint32_t stream) const;
  bool waits(std::uint32_t stream) const { return requests_[stream].open; }

  void write(Snapshot& snapshot) const;
  void skip(const Jump& jump);
  /// Returns the largest number of iterations that may be skipped. If a request of the epilogue waits, it must leave
  /// room for the requests of all remaining iterations. After a skip, fewer iterations remain, so there may be room
  /// for the request. The result is the largest number after which the request still waits.
  std::int64_t most_iterations() const;

  /// Returns for each pool the greatest sum that the rule of reservation counted at a grant: the held bytes, the bytes
  /// of earlier requests, and the bytes of the granted request. For a shared or unlimited pool, the sum is the peak.
  const std::vector<std::int64_t>& reserved() const { return reserved_; }

 private:
  struct Request {
    bool open = false;
    std::uint32_t action = none;
    std::int64_t iteration = 0;
    double time = 0;
    ListingPosition place;
    std::uint32_t pool = none;  ///< the pool that could not grant the request
    std::int64_t granted_by = -1;
  };
  /// The part of a request that is for one pool.
  struct Claim {
    std::uint32_t pool, queue;
    std::int64_t bytes;
    bool shared;
  };
  struct Waiting {
    ListingPosition place;
    std::uint32_t stream;
  };
  std::span<const Claim> claims(std::uint32_t action) const {
    return {claims_.data() + first_[action], claims_.data() + first_[action + 1]};
  }
  /// Grants the most frequent kind of request quickly: a request for bytes of a single pool, which one device owns and
  /// which has room. In this case, has the effect of granted_or_waits() and returns true. For any other request,
  /// returns false and changes nothing.
  bool granted_at_once(std::uint32_t stream, std::uint32_t action, std::int64_t iteration) {
    if (first_[action + 1] != first_[action] + 1 || unlimited_) return false;
    const Claim& claim = claims_[first_[action]];
    std::int64_t own = 0;
    if (claim.shared || __builtin_add_overflow(residency_.level(claim.pool), claim.bytes, &own))
      return false;
    const std::int64_t room = most_[claim.pool] - own;
    if (room < 0) return false;
    Reservation& reservation = reservations_[claim.pool];
    const WideBytes earlier = reservation.earlier(listing_position(plan_, action, iteration), room);
    if (earlier > room) return false;
    std::int64_t& reserved = reserved_[claim.pool];
    reserved = std::max(reserved, own + static_cast<std::int64_t>(earlier));
    reservation.grant(claim.queue);
    Request& request = requests_[stream];
    request.open = false;
    request.pool = none;
    residency_.allocate(action, iteration);
    return true;
  }
  bool granted_or_waits(std::uint32_t stream, std::uint32_t action, std::int64_t iteration,
                        double time);
  bool fits(const Claim& claim, std::uint32_t stream);
  bool fits_everywhere(std::uint32_t stream);
  void take(std::uint32_t stream);
  void enqueue(std::uint32_t stream);
  void leave_queues(std::uint32_t stream);
  void settle_pool(std::uint32_t pool, std::vector<std::uint32_t>& granted);

  const Plan& plan_;
  Residency& residency_;
  bool unlimited_;
  std::vector<std::uint32_t> first_;  ///< for each action, the index of its first claim
  std::vector<Claim> claims_;
  /// For each limited pool, the most bytes that it may hold.
  std::vector<std::int64_t> most_;
  std::vector<Reservation> reservations_;  ///< indexed by pool
  std::vector<Request> requests_;          ///< indexed by stream
  /// For each pool, the waiting requests in listing order. For a shared pool, they are in the order in which they were
  /// made.
  std::vector<std::vector<Waiting>> waiting_;
  std::vector<std::uint32_t> changed_;  ///< the pools in which bytes were released at this moment
  /// For each pool, the row of the span that last released bytes.
  std::vector<std::int64_t> changed_by_;
  /// Bytes, indexed by pool. `held_` has the sums that fits() counted last, and `reserved_` has the results of
  /// reserved().
  std::vector<std::int64_t> held_, reserved_;
  bool shared_changed_ = false;
};

}  // namespace sluice
