#include "execute/arithmetic/unhindered.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "execute/arithmetic/execution.hpp"
#include "execute/reservation.hpp"

namespace sluice {

// This file finds the same seconds per iteration as the replay. The proof has three parts:
// - The start of an execution. No link is shared, so each action takes as long as it takes alone. Suppose that no
//   execution waits for memory. Then an execution starts as soon as three conditions hold. Its stream is free. The data
//   of all awaited executions have arrived. The time of its `not_before` has passed. All awaited executions are listed
//   before it, in its own iteration or in an earlier iteration.
// - Equal growth. The times in an iteration depend on two kinds of earlier times only. These are the times at which
//   the streams became free, and the times at which awaited data of earlier iterations arrived. Suppose that during an
//   iteration, all of these times grow by an equal amount. Suppose also that no action of this iteration waited for the
//   prologue, and that no wait looked back before the first iteration. Then in the next iteration, all times grow by
//   the same amount again. The same is true of every later iteration, except the last iterations.
// - No execution waits for memory. A pool grants a request if a sum of bytes fits (reservation.hpp). The sum counts two
//   kinds of bytes, each at most once: the bytes in the pool, and the bytes of the requests that are listed up to this
//   request. Let `apart` be the number of iterations by which the slowest stream is behind the fastest stream. Let
//   `reach` be the largest distance of a wait or |`ahead`| of an action in the body, but at least 1 (reach_of()).
//   Before the times grow evenly, the sum counts the allocations of the iterations computed so far and of the next
//   `apart` iterations. After that, the sum counts the allocations of at most `apart` + 2 * reach iterations: those
//   that the fastest stream is ahead of the slowest stream, and the 2 * reach iterations before them. Still earlier
//   iterations do not count, because the allocations of an iteration are freed within 2 * reach iterations. The first
//   2 * reach iterations may also allocate instances that are never freed, because all their uses would lie before the
//   first iteration. The sum also counts the bytes of homes, of the prologue and of the epilogue. If a pool has room
//   for all these bytes together, no action of the body ever waits for memory. An action of the epilogue may wait for
//   memory until the body has ended. This wait delays no other action, because a request is granted without regard to
//   requests that are listed later.
namespace {

/// The greatest number of iterations that this file computes. If the times do not grow evenly within these iterations,
/// the replay executes the plan instead.
constexpr std::int64_t most_walked = 12;
/// The greatest result of reach_of() that this file accepts. If a wait looks back further, or an `ahead` is larger, the
/// replay executes the plan instead.
constexpr std::int64_t most_reach = 4;

class Unhindered {
 public:
  explicit Unhindered(const PlanTables& tables)
      : tables_(tables),
        plan_(tables.plan),
        reach_(arithmetic::reach_of(plan_)),
        free_(plan_.streams.size(), 0),
        arrivals_(plan_.actions.size() * static_cast<std::size_t>(reach_ + 1), 0) {}

  std::optional<double> iteration_s() {
    if (!learn_waits()) return {};
    for (std::uint32_t a = 0; a < plan_.body_begin; ++a) execute(a, 0);
    const std::int64_t last = std::min(most_walked, plan_.iterations - 2 * reach_ - 1);
    for (std::int64_t i = 0; i < last; ++i) {
      const std::vector<double> before = taken_over(i);
      filling_ = false;
      for (std::uint32_t a = plan_.body_begin; a < plan_.body_end; ++a)
        if (runs(a, i)) execute(a, i);
      if (i <= reach_ || i < whole_ || filling_) continue;
      if (const auto grown = growth(before, taken_over(i + 1))) {
        if (!has_room(*grown, i)) return {};
        return grown;
      }
    }
    return {};
  }

 private:
  /// Reads the waits of all actions before the epilogue. Returns false if an action waits for an action listed later.
  bool learn_waits() {
    for (std::uint32_t a = 0; a < plan_.body_end; ++a) {
      const bool body = a >= plan_.body_begin;
      if (body) whole_ = std::max<std::int64_t>(whole_, -tables_.ahead(a));
      for (const Wait& wait : tables_.waits(a)) {
        if (wait.distance == 0 && wait.action >= a) return false;
        if (!body || wait.action < plan_.body_begin) continue;
        whole_ = std::max<std::int64_t>(
            whole_, std::int64_t{wait.distance} + std::max(0, -tables_.ahead(wait.action)));
        for (std::uint32_t back = 1; back <= wait.distance; ++back)
          reaching_back_.push_back({wait.action, back});
      }
    }
    return true;
  }

  bool runs(std::uint32_t a, std::int64_t iteration) const {
    const std::int64_t served = iteration + tables_.ahead(a);
    return served >= 0 && served < plan_.iterations;
  }

  double& arrival(std::uint32_t a, std::int64_t iteration) {
    return arrivals_[static_cast<std::size_t>(iteration % (reach_ + 1)) * plan_.actions.size() + a];
  }

  void execute(std::uint32_t a, std::int64_t iteration) {
    double& free = free_[tables_.stream(a)];
    double start = std::max(free, tables_.not_before(a)), filled = 0;
    for (const Wait& wait : tables_.waits(a)) {
      const std::int64_t target = tables_.awaited(a, iteration, wait);
      if (target < 0) continue;
      double& latest = wait.action < plan_.body_begin ? filled : start;
      latest = std::max(latest, arrival(wait.action, target));
    }
    if (filled > start) {
      start = filled;
      filling_ = true;
    }
    free = start + tables_.seconds_alone(a);
    arrival(a, iteration) = free + tables_.latency(a);
  }

  /// Returns the times in earlier iterations on which the times of `iteration` depend.
  std::vector<double> taken_over(std::int64_t iteration) {
    std::vector<double> times;
    for (std::uint32_t s = 0; s < free_.size(); ++s)
      if (!tables_.stream_actions[s][1].empty()) times.push_back(free_[s]);
    for (const Wait& wait : reaching_back_) {
      const std::int64_t target = iteration - wait.distance;
      times.push_back(target < 0 || !runs(wait.action, target) ? 0 : arrival(wait.action, target));
    }
    return times;
  }

  /// `before` and `after` are the times that taken_over() returned for an iteration and for the next iteration. Returns
  /// the seconds by which all times grew from `before` to `after`. Returns nullopt if they grew by different amounts.
  /// Except for rounding, the result is the growth of every stream. It is computed for the stream on which the replay
  /// measures its periods.
  std::optional<double> growth(const std::vector<double>& before,
                               const std::vector<double>& after) const {
    std::size_t leader = 0;
    for (std::uint32_t s = 0; s < plan_.actions[plan_.body_begin].stream; ++s)
      leader += !tables_.stream_actions[s][1].empty();
    const double grown = after[leader] - before[leader];
    const double tolerance =
        rounding_of(after[leader], static_cast<std::int64_t>(plan_.body_end - plan_.body_begin));
    if (grown <= tolerance) return {};
    for (std::size_t t = 0; t < after.size(); ++t)
      if (std::abs(after[t] - before[t] - grown) > tolerance) return {};
    return grown;
  }

  /// Returns whether each pool has room for the largest sum of bytes that is counted for one of its grants. The caller
  /// has found that after `iteration`, each action ends `grown` seconds later than in the iteration before.
  bool has_room(double grown, std::int64_t iteration) const {
    double first = free_[plan_.actions[plan_.body_begin].stream], last = first;
    for (std::uint32_t s = 0; s < free_.size(); ++s) {
      if (tables_.stream_actions[s][1].empty()) continue;
      first = std::min(first, free_[s]);
      last = std::max(last, free_[s]);
    }
    const double apart = std::ceil((last - first) / grown);
    if (apart > 1e6) return false;
    const WideBytes iterations = iteration + 2 + static_cast<std::int64_t>(apart) + 4 * reach_;
    std::vector<WideBytes> bytes(plan_.pools.size(), 0);
    for (const Tensor& tensor : plan_.tensors)
      if (tensor.home != none) bytes[tensor.home] += tensor.bytes;
    for (std::uint32_t a = 0; a < plan_.actions.size(); ++a) {
      const bool body = a >= plan_.body_begin && a < plan_.body_end;
      for (const Allocation& made : tables_.allocations(a)) {
        bytes[made.placement.pool] += (body ? iterations : 1) * WideBytes{made.bytes};
        if (body && tables_.uses_an_iteration(made.placement) == 0) return false;
      }
    }
    for (std::size_t p = 0; p < bytes.size(); ++p)
      if (plan_.pools[p].limited() && bytes[p] > plan_.pools[p].most()) return false;
    return true;
  }

  const PlanTables& tables_;
  const Plan& plan_;
  std::int64_t reach_;
  /// The first iteration whose waits all look back to iterations of the body.
  std::int64_t whole_ = 0;
  std::vector<Wait> reaching_back_;  ///< a wait that looks back n iterations is listed n times
  std::vector<double> free_;         ///< indexed by stream
  std::vector<double> arrivals_;     ///< indexed by action, for the latest reach + 1 iterations
  bool filling_ = false;             ///< whether in this iteration, a start waited for the prologue
};

/// Returns whether a pool with a limited capacity is shared by several devices. Such a pool grants bytes in the order
/// in which they are requested. So one action may delay another action.
bool shares_memory(const Plan& plan) {
  return std::any_of(plan.pools.begin(), plan.pools.end(),
                     [](const Pool& pool) { return pool.shared() && pool.limited(); });
}

}  // namespace

std::optional<double> unhindered_iteration_s(const PlanTables& tables) {
  if (!tables.contention_free() || shares_memory(tables.plan) ||
      !arithmetic::may_repeat(tables.plan) || arithmetic::reach_of(tables.plan) > most_reach)
    return {};
  return Unhindered(tables).iteration_s();
}

}  // namespace sluice
