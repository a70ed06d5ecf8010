// The choices of replicas that share links. Each replica chooses for itself, but the plans run together. So the choice
// that is faster for one replica can be slower for all of them, and a choice that depended on the memory could become
// slower with more memory. Therefore the choices are made within limits that do not depend on the machine, and the plans
// that they give are compared by the seconds of all replicas together. A plan runs within the bytes that it reserves
// when a replica runs alone. So a larger memory has all plans of a smaller memory, and each takes the same seconds.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "planning/replica.hpp"
#include "planning/run_seconds.hpp"
#include "policy/replicas.hpp"

namespace sluice {

namespace {

constexpr double steps_per_doubling = 4;

/// The machine if each device had at most this many bytes in its own first memory.
Platform with_at_most(Platform platform, std::int64_t bytes) {
  for (Device& device : platform.devices) {
    DeviceMemory& memory = device.memories.front();
    if (memory.own) memory.capacity = std::min(bytes, memory.capacity.value_or(bytes));
  }
  return platform;
}

class LimitSearch {
 public:
  LimitSearch(const Policy& policy, const PolicyRequest& request, const Reader& parameters)
      : policy_(policy), request_(request), parameters_(parameters) {
    for (const Device& device : request.pricing.platform.devices)
      if (const auto capacity = device.memory().capacity; capacity && device.memory().own)
        most_ = std::min(most_, *capacity);
  }

  /// Compares the plans for all limits within the memory, as the replicas choose them on this machine. It ends when the
  /// limits are too small, or when no plan within them can be faster.
  void descend(const Platform& chosen_on) {
    const bool own_links = &chosen_on == &request_.pricing.platform;
    std::int64_t above = most_ + 1, limit = limit_at_most(most_, steps_per_doubling);
    // If the model does not fit within a limit, each plan between this limit and the one above is compared.
    bool each_plan = false;
    while (limit > too_small_) {
      std::vector<Plan> parts;
      try {
        parts = replica_plans(policy_, request_, parameters_, with_at_most(chosen_on, limit));
      } catch (const Infeasible&) {
        if (each_plan || above - 1 <= limit) return;
        each_plan = true;
        limit = above - 1;
        continue;
      }
      const Alone alone = run_within_own_bytes(parts, limit);
      consider(joined(policy_.name, std::move(parts), request_, parameters_,
                      parameters_.text("transfers")));
      // No plan of replicas that share links is faster than a replica that has them alone.
      if (own_links && alone.seconds >= best_s_) {
        too_small_ = limit;
        return;
      }
      above = alone.bytes;
      limit = each_plan ? above - 1 : above > 1 ? limit_at_most(above - 1, steps_per_doubling) : 0;
    }
  }

  /// Compares the plan that equal replicas choose with their shares of the links and all of the memory. If these
  /// replicas transfer at the same time, each has exactly its share. So the plan takes the seconds for which it was
  /// chosen, and these do not increase with the memory.
  void consider_equal_shares(const Platform& share) {
    if (parameters_.text("transfers") == "in_turn" || !equal_replicas()) return;
    Plan plan = joined(policy_.name, replica_plans(policy_, request_, parameters_, share), request_,
                       parameters_, "together");
    if (parameters_.text("transfers") == "auto") plan.facts.emplace_back("transfers", "together");
    consider(std::move(plan));
  }

  bool found() const { return best_s_ < std::numeric_limits<double>::infinity(); }
  Plan best() { return std::move(best_); }

 private:
  struct Alone {
    double seconds = 0;
    std::int64_t bytes = 0;
  };

  /// Limits each replica's memory to the bytes that it reserves when it runs alone. Returns the most of these bytes,
  /// and the seconds of the slowest replica.
  Alone run_within_own_bytes(std::vector<Plan>& parts, std::int64_t limit) const {
    Alone alone;
    for (Plan& part : parts) {
      const ReplayResult result = replay(part, ReplayOptions{.unlimited = true});
      alone.seconds = std::max(alone.seconds, result.makespan);
      for (std::size_t p = 0; p < part.pools.size(); ++p) {
        Pool& pool = part.pools[p];
        if (pool.owner.empty() || pool.name != pool.owner) continue;
        pool.capacity = request_.pricing.platform.device(pool.owner).memory().capacity;
        pool.limit = std::min(limit, result.reserved[p]);
        alone.bytes = std::max(alone.bytes, *pool.limit);
      }
    }
    return alone;
  }

  bool equal_replicas() const {
    const std::vector<std::string> devices = replica_devices(request_, parameters_);
    const auto count = static_cast<std::int64_t>(devices.size());
    const Platform& platform = request_.pricing.platform;
    return request_.workload.batches_per_step % count == 0 &&
           std::all_of(devices.begin(), devices.end(), [&](const std::string& device) {
             return device == devices.front() || alike(platform, devices.front(), device);
           });
  }

  void consider(Plan plan) {
    const double seconds = run_seconds(plan);
    if (!(seconds < best_s_ * (1 - 1e-12))) return;
    best_s_ = seconds;
    best_ = std::move(plan);
  }

  const Policy& policy_;
  const PolicyRequest& request_;
  const Reader& parameters_;
  std::int64_t most_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t too_small_ = 0;  ///< within at most this many bytes, no plan can be the best
  double best_s_ = std::numeric_limits<double>::infinity();
  Plan best_;
};

}  // namespace

std::int64_t limit_at_most(std::int64_t bytes, double steps) {
  const double last = std::floor(std::log2(static_cast<double>(bytes)) * steps) + 1;
  for (double k = last;; --k) {
    const auto limit = static_cast<std::int64_t>(std::exp2(k / steps));
    if (limit <= bytes) return limit;
  }
}

Plan fastest_of_limits(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                       const Platform& share) {
  LimitSearch search(policy, request, parameters);
  search.consider_equal_shares(share);
  search.descend(request.pricing.platform);
  search.descend(share);
  // If nothing was found, the replicas say what is missing, or they wait for memory.
  return search.found() ? search.best()
                        : replicated(policy, request, parameters, request.pricing.platform);
}

}  // namespace sluice
