// The reservation rule of a pool that one device owns. By this rule, a request leaves bytes free for the requests
// listed before it.
//
// Requests are in listing order: prologue, n times the body, epilogue. When a request is made, some earlier requests
// may not be granted yet. The new request may overtake them if the pool has room for all of them and for itself:
//
//     level + (bytes of the earlier requests) + its own bytes <= capacity
//
// So a grant never changes whether another request fits. Suppose that request k is granted before request j, although
// j is listed earlier. The bytes of j were part of the sum for k. So j fits before and after the grant of k. Now take
// a request listed after k. Its sum counts the bytes of k in any case: as reserved before the grant, and as held
// after it. So the grant of k does not change this sum. Only a release of bytes can make another grant possible. So
// the requests of a moment may be examined in any order. Every request still fits when all earlier requests are
// granted. So no grant comes later than with grants in listing order. In the same way, no grant comes later with a
// greater capacity.
//
// A stream executes in listing order, so its requests are granted in listing order. The pool's requests are therefore
// kept in queues: one queue per stream, section and `ahead`. Each queue records its next request. Dropped executions
// are in no queue.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "execute/steady.hpp"
#include "plan/tables.hpp"

namespace sluice {

/// An integer that is wide enough for a sum of terabytes over a million iterations.
using WideBytes = __int128;

/// The position of an execution in the listing order of the whole run.
struct ListingPosition {
  /// 0 in the prologue, 1 + i in iteration i of the body, and n + 1 in the epilogue after n iterations.
  std::int64_t round = 0;
  std::uint32_t action = 0;
  bool operator==(const ListingPosition&) const = default;
  bool operator<(const ListingPosition& other) const {
    return round < other.round || (round == other.round && action < other.action);
  }
};
inline ListingPosition listing_position(const Plan& plan, std::uint32_t action,
                                        std::int64_t iteration) {
  if (action < plan.body_begin) return {0, action};
  return {action < plan.body_end ? iteration + 1 : plan.iterations + 1, action};
}

class Reservation {
  static constexpr ListingPosition nowhere{std::numeric_limits<std::int64_t>::max(), none};

 public:
  /// Adds to its queue an action that allocates `bytes`. Call this function in listing order. Returns the number of the
  /// queue.
  std::uint32_t add(const PlanTables& tables, std::uint32_t action, std::int64_t bytes);

  /// Returns the bytes of the requests before `place` without a grant. A sum that exceeds `enough` may be incomplete.
  WideBytes earlier(const ListingPosition& place, WideBytes enough) const {
    WideBytes sum = 0;
    for (const RequestQueue& queue : queues_)
      if (queue.next < place && (sum += queue.listed(place).bytes - queue.granted.bytes) > enough)
        break;
    return sum;
  }
  /// Returns the number of requests before `place` without a grant.
  std::int64_t earlier_requests(const ListingPosition& place) const;

  /// Returns the bytes that the body requests in each iteration.
  WideBytes bytes_an_iteration() const;

  void write(Snapshot& snapshot) const;
  void skip(const Jump& jump);

  /// Records that the next request of this queue has been granted.
  void grant(std::uint32_t queue) { queues_[queue].advance(); }

 private:
  struct Sum {
    WideBytes bytes = 0;
    std::int64_t requests = 0;
  };
  struct RequestQueue {
    std::uint32_t stream = 0;
    Section section = Section::prologue;
    ListingPosition next;  ///< the position of the first request that is not granted yet
    std::int32_t ahead = 0;
    /// The rounds in which the actions of this queue are executed.
    std::int64_t first_round = 0, end_round = 0;
    std::vector<std::uint32_t> actions;  ///< the actions of one round, in listing order
    /// For each action, the bytes per round of the actions before it in this queue. The last element is the sum for
    /// all actions of the queue.
    std::vector<WideBytes> before{0};
    std::size_t position = 0;  ///< the position of `next` in `actions`
    Sum granted;

    void advance() {
      granted.bytes += before[position + 1] - before[position];
      ++granted.requests;
      if (++position == actions.size()) {
        position = 0;
        ++next.round;
      }
      next = next.round < end_round ? ListingPosition{next.round, actions[position]} : nowhere;
    }
    /// Returns the bytes of all requests before this place, with or without a grant.
    Sum listed(const ListingPosition& place) const;
  };
  RequestQueue& queue_of(const PlanTables& tables, std::uint32_t action);
  std::vector<RequestQueue> queues_;
  std::size_t latest_ = 0;  ///< the queue to which an action was added last
};

}  // namespace sluice
