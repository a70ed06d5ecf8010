#include "policy/settle/replica_limits.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "planning/run_seconds.hpp"
#include "policy/settle/replicas.hpp"

namespace sluice {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// Returns the greatest power of two that is at most this many bytes. The powers of two are the limits.
std::int64_t limit_at_most(std::int64_t bytes) {
  std::int64_t limit = 1;
  while (limit <= bytes / 2) limit *= 2;
  return limit;
}

/// Returns the platform on which each device has at most this many bytes in its own first memory.
Platform with_at_most(Platform platform, std::int64_t bytes) {
  for (Device& device : platform.devices) {
    DeviceMemory& memory = device.memories.front();
    if (memory.own) memory.capacity = std::min(bytes, memory.capacity.value_or(bytes));
  }
  return platform;
}

class LimitSearch {
 public:
  LimitSearch(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
              const Platform& share)
      : policy_(policy),
        request_(request),
        parameters_(parameters),
        share_(share),
        devices_(replica_devices(request, parameters)),
        transfers_(parameters.text("transfers")) {}

  Plan best() {
    consider(replica_plans(policy_, request_, parameters_, share_), "together");
    if (transfers_ == "auto") consider_limits();
    if (best_s_ == never) return replicated(policy_, request_, parameters_, share_);
    return std::move(best_);
  }

 private:
  /// Considers the plans of all limits within the memory, in descending order, if the replicas transfer one after the
  /// other. On links with only its share of the bandwidth, a replica runs at most as many times longer as there are
  /// replicas. This gives a lower bound of the seconds of all plans within smaller limits. The loop ends when this
  /// bound reaches the best seconds.
  void consider_limits() {
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    for (const std::string& device : devices_)
      most = std::min(most, *request_.pricing.platform.device(device).memory().capacity);
    while (most > 0) {
      const std::int64_t limit = limit_at_most(most);
      std::vector<Plan> parts;
      try {
        parts = replica_plans(policy_, request_, parameters_, with_at_most(share_, limit));
      } catch (const Infeasible&) {
        return;
      }
      const double share_s = replay(parts.front(), ReplayOptions{.unlimited = true}).makespan;
      if (share_s >= best_s_ * static_cast<double>(devices_.size())) return;
      stay_within(parts, limit);
      consider(std::move(parts), "in_turn");
      most = limit - 1;
    }
  }

  /// Limits the memory of each device to `limit` bytes. The capacities are those of the machine.
  void stay_within(std::vector<Plan>& parts, std::int64_t limit) const {
    for (Plan& part : parts)
      for (Pool& pool : part.pools) {
        if (pool.owner.empty() || pool.name != pool.owner) continue;
        pool.capacity = request_.pricing.platform.device(pool.owner).memory().capacity;
        pool.limit = limit;
      }
  }

  /// Compares the run of these replicas with the best run. If equal replicas transfer together, each of them has
  /// exactly its share of the links. So the run takes the seconds by which the replicas made their choices. Within the
  /// whole memory, these seconds do not increase with the memory.
  void consider(std::vector<Plan> parts, const std::string& transfers) {
    Plan plan = joined(policy_, std::move(parts), request_, parameters_, transfers);
    const double seconds = run_seconds(plan);
    if (!(seconds < best_s_ * (1 - 1e-12))) return;
    best_s_ = seconds;
    best_ = std::move(plan);
    if (transfers_ == "auto")
      best_.facts.emplace_back("transfers", transfers == "together" ? "together" : "in turn");
  }

  const Policy& policy_;
  const PolicyRequest& request_;
  const Reader& parameters_;
  const Platform& share_;
  std::vector<std::string> devices_;
  std::string transfers_;
  double best_s_ = never;
  Plan best_;
};

}  // namespace

bool chooses_within_limits(const Policy& policy, const PolicyRequest& request,
                           const Reader& parameters) {
  const std::vector<std::string> devices = replica_devices(request, parameters);
  const auto limited = [&](const std::string& device) {
    const DeviceMemory& memory = request.pricing.platform.device(device).memory();
    return memory.own && memory.capacity;
  };
  return !request.workload.training && request.capacity_enforced &&
         parameters.text("transfers") != "in_turn" &&
         std::all_of(devices.begin(), devices.end(), limited) && equal_replicas(request, devices) &&
         has_candidates(policy, request, parameters);
}

Plan fastest_of_limits(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                       const Platform& share) {
  return LimitSearch(policy, request, parameters, share).best();
}

}  // namespace sluice
