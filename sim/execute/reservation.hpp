// The rule of reservation, by which a pool that one device owns grants bytes. By this rule, a request leaves bytes free
// for the requests that are listed before it.
//
// Requests are in listing order: prologue, n times the body, epilogue. "Earlier" means earlier in this order. The level
// of a pool is the number of bytes in it. When a request is made, some earlier requests may not be granted yet. The new
// request may overtake them if the pool has room for all of them and for the new request:
//
//     level + (bytes of the earlier requests without a grant) + its own bytes <= capacity
//
// So a grant never changes whether another request fits. Suppose that request k is granted before request j, although j
// is listed earlier. The sum for k contained the bytes of j. So j fits before and after the grant of k. Now take a
// request that is listed after k. Before the grant of k, its sum counts the bytes of k among the earlier requests.
// After the grant, its sum counts them in the level. So the grant of k does not change this sum. Only a release of
// bytes can make another grant possible. So the requests of a moment may be examined in any order. If all earlier
// requests were granted first, every granted request would still fit. So no grant comes later than it would with grants
// in listing order. A greater capacity only lets more requests overtake, which delays no grant. So with a greater
// capacity, no grant comes later.
//
// A stream executes its actions in listing order. So the requests of one stream are granted in listing order. Therefore
// the requests for the pool are kept in queues: one queue for each stream, section and `ahead`. A queue records which
// of its requests is granted next. Dropped executions are in no queue.
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
  /// The action allocates `bytes`. Adds the action to its queue, and returns the number of this queue. Call this
  /// function for all actions in listing order.
  std::uint32_t add(const PlanTables& tables, std::uint32_t action, std::int64_t bytes);

  /// Returns the bytes of the requests that are listed before `place` and are not granted yet. If the sum exceeds
  /// `enough`, the result may be any number above `enough`.
  WideBytes earlier(const ListingPosition& place, WideBytes enough) const {
    WideBytes sum = 0;
    for (const RequestQueue& queue : queues_)
      if (queue.next < place && (sum += queue.listed(place).bytes - queue.granted.bytes) > enough)
        break;
    return sum;
  }
  /// Returns the number of requests that are listed before `place` and are not granted yet.
  std::int64_t earlier_requests(const ListingPosition& place) const;

  /// Returns the bytes that the body requests in each iteration, without the queues whose requests have all been
  /// granted.
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
    /// The actions of this queue are executed in these rounds (ListingPosition::round): from `first_round` to the last
    /// round before `end_round`.
    std::int64_t first_round = 0, end_round = 0;
    std::vector<std::uint32_t> actions;  ///< the actions of one round, in listing order
    /// For each action, the bytes that are requested in one round by the actions before it in this queue. The last
    /// element is the sum for all actions of the queue.
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
    /// Returns the number and the bytes of all requests of this queue that are listed before this
    /// place, even of the requests that have been granted.
    Sum listed(const ListingPosition& place) const;
  };
  RequestQueue& queue_of(const PlanTables& tables, std::uint32_t action);
  std::vector<RequestQueue> queues_;
  std::size_t latest_ = 0;  ///< the queue to which an action was added last
};

}  // namespace sluice
