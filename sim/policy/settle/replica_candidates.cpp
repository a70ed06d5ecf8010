#include "policy/settle/replica_candidates.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "planning/replica.hpp"
#include "planning/run_seconds.hpp"
#include "policy/settle/replicas.hpp"
#include "policy/settle/settle.hpp"

namespace sluice {
namespace {

/// Plans for smaller memories are compared if a step has at most this many pairs of a layer and a micro-batch. With more
/// of them, each plan takes long to make, and there are many different plans.
constexpr std::int64_t most_passes_of_layers = 200;
constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// Returns the greatest number of bytes within which one of the plans stays in the memory of its device. Returns nothing
/// if a plan may use the whole memory, or if the memory does not belong to the device alone.
std::optional<std::int64_t> bytes_of(const std::vector<Plan>& parts,
                                     const std::vector<std::string>& devices) {
  std::optional<std::int64_t> most;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto pool = std::ranges::find(parts[k].pools, devices[k], &Pool::name);
    if (pool == parts[k].pools.end() || !pool->limit) return {};
    most = std::max(*pool->limit, most.value_or(0));
  }
  return most;
}

/// Returns the seconds of the slowest replica if it runs alone, or 0 if they are not known.
double seconds_alone(const std::vector<Plan>& parts) {
  double seconds = 0;
  for (const Plan& part : parts)
    if (const Fact* chosen = find_fact(part.facts, "chosen_s"); chosen && chosen->number())
      seconds = std::max(seconds, chosen->number()->value);
  return seconds;
}

/// The plans of all replicas for one mapping for `policy:`.
class ReplicaWay {
 public:
  /// How many kinds of choices are compared: with the whole bandwidth and with a share of it.
  static constexpr std::int64_t compared = 2;

  ReplicaWay(const Policy& policy, const PolicyRequest& request, Keys keys)
      : policy_(policy),
        request_(request),
        keys_(std::move(keys)),
        devices_(replica_devices(request, keys_.reader())),
        share_(shared_out(request.pricing.platform, devices_)) {}

  /// Returns a lower bound of the seconds of all replicas together if they use at most `bytes` bytes of each device's
  /// memory. Returns nothing if the policy compares no choices. The first replica, which has the most batches, takes at
  /// least as long as if it ran alone.
  std::optional<double> at_least(std::int64_t bytes) const {
    Platform machine = request_.pricing.platform;
    limit_memories(machine, bytes);
    return replica_at_least(policy_, request_, keys_.reader(), machine, 0);
  }

  /// Returns the fastest plan if it takes less than `worth` seconds. Otherwise, the result has no plan.
  Settled fastest(double worth) const {
    Fastest best{.seconds = worth};
    // For this many bytes or fewer, the choices take too long.
    const std::int64_t too_slow = compare(request_.pricing.platform, true, 0, best);
    compare(share_, false, too_slow, best);
    if (!best.plan) return {};
    return {.seconds = best.seconds, .plan = [plan = best.plan] { return *plan; }};
  }

 private:
  struct Fastest {
    double seconds = 0;
    std::shared_ptr<const Plan> plan = {};
  };

  /// Compares the plans whose choices are made on `machine`: with the whole memory, and then again and again with one
  /// byte less than the last choices need. Returns the number of bytes for which the choices take too long, or 0 if
  /// there is none. No choices for `too_slow` bytes or fewer are made. `whole` says whether a replica that runs alone on
  /// `machine` is at least as fast as all replicas together.
  std::int64_t compare(Platform machine, bool whole, std::int64_t too_slow, Fastest& best) const {
    for (std::int64_t bytes = no_limit; bytes > too_slow;) {
      std::vector<Plan> parts;
      try {
        if (bytes < no_limit && !(at_least(bytes).value_or(0) < best.seconds)) return bytes;
        parts = replica_plans(policy_, request_, keys_.reader(), machine);
      } catch (const Infeasible&) {
        return 0;
      }
      if (whole && !(seconds_alone(parts) < best.seconds)) return bytes;
      const std::optional<std::int64_t> needed = bytes_of(parts, devices_);
      // Without a limit, the plan would run in the whole memory, and not in the smaller one for which it was made.
      if (!needed && bytes < no_limit) return 0;
      auto plan =
          std::make_shared<const Plan>(joined(policy_, request_, keys_.reader(), std::move(parts)));
      const double seconds = run_seconds(*plan);
      if (seconds < best.seconds) best = {seconds, std::move(plan)};
      // If capacities are not enforced, the plan for fewer bytes still needs as many as before.
      if (!needed || *needed > bytes) return 0;
      bytes = *needed - 1;
      limit_memories(machine, bytes);
    }
    return 0;
  }

  void limit_memories(Platform& machine, std::int64_t bytes) const {
    for (Device& device : machine.devices)
      if (bytes < no_limit && std::ranges::find(devices_, device.name) != devices_.end())
        device.memory().capacity = std::min(bytes, device.memory().capacity.value_or(bytes));
  }

  const Policy& policy_;
  const PolicyRequest& request_;
  Keys keys_;
  std::vector<std::string> devices_;
  Platform share_;  ///< the platform with each replica's share of the links
};

Candidate candidate(const std::shared_ptr<const ReplicaWay>& way, double at_least,
                    const std::string& text) {
  const auto simulate = [way, text](double worth, const auto& use) {
    Settled one;
    try {
      one = way->fastest(worth);
    } catch (const InputError&) {
      // The scenario did not ask for this way, so its error is ignored.
    }
    one.text = text;
    use(one);
  };
  return {.at_least = at_least, .ways = ReplicaWay::compared, .simulate = simulate};
}

}  // namespace

std::vector<Value> replica_alternatives(const Policy& replicating, const PolicyRequest& request,
                                        const Reader& parameters) {
  if (replica_devices(request, parameters).size() > few_devices ||
      !delay_each_other(request, parameters))
    return {};
  const Policy& policy = acting_policy(replicating, parameters);
  std::vector<Value> maps = ways_of_replicas(policy, request, parameters);
  if (const std::optional<Keys> in_order = without_overlap(replicating, policy, parameters.map()))
    for (Value& way : ways_of_replicas(policy, request, in_order->reader()))
      maps.push_back(std::move(way));
  return maps;
}

std::vector<Candidate> replica_candidates(const Policy& replicating, const PolicyRequest& request,
                                          const Reader& parameters) {
  const auto layers = static_cast<std::int64_t>(request.pricing.model.layers.size());
  if (request.workload.training ||
      request.workload.micro_batches_per_step() > most_passes_of_layers / layers)
    return {};
  const Policy& policy = acting_policy(replicating, parameters);
  std::vector<Candidate> candidates;
  for (Value& map : replica_alternatives(replicating, request, parameters)) {
    const std::string text = difference(map, parameters.map());
    try {
      const auto way = std::make_shared<const ReplicaWay>(
          policy, request,
          Keys(std::move(map), record_of(policy_catalog().find(replicating.name))));
      const std::optional<double> least = way->at_least(no_limit);
      if (!least) return {};
      if (*least == std::numeric_limits<double>::infinity()) continue;
      candidates.push_back(candidate(way, *least, text));
    } catch (const InputError&) {
      // The scenario did not ask for this way, so its error is ignored.
    } catch (const Infeasible&) {
    }
  }
  return candidates;
}

}  // namespace sluice
