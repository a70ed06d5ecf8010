#include "policy/settle/replicas_alone.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/never.hpp"
#include "execute/arithmetic/replay.hpp"
#include "fates/optimal/report.hpp"
#include "plan/digest.hpp"
#include "planning/replica.hpp"
#include "planning/run_seconds.hpp"
#include "policy/settle/one_replica.hpp"
#include "policy/settle/replicas.hpp"
#include "policy/settle/settle.hpp"

namespace sluice {
namespace {

/// A step of inference is long if it has more than this many pairs of a layer and a micro-batch (is_long_step()). Each
/// plan then takes long to make and to simulate, so only choices for a share of the links are compared. In a long step,
/// the replicas are rarely faster with choices for the whole links.
constexpr std::int64_t most_passes_of_layers = 20'000;
constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// Returns the seconds of the slowest replica if it runs alone.
double seconds_alone(const ReplicaPlans& parts) {
  double seconds = 0;
  for (std::size_t k = 0; k < parts.plans.size(); ++k)
    seconds =
        std::max(seconds, parts.chosen_s[k] ? *parts.chosen_s[k] : run_seconds(parts.plans[k]));
  return seconds;
}

/// The plans of all replicas for one mapping for `policy:`.
class ReplicaWay {
 public:
  ReplicaWay(const Policy& policy, const PolicyRequest& request, Keys keys)
      : policy_(policy),
        request_(request),
        keys_(std::move(keys)),
        devices_(replica_devices(request, keys_.reader())),
        share_(shared_out(request.pricing.platform, devices_)),
        long_step_(is_long_step(request)),
        searches_places_(any_search_for_places()) {}

  /// Returns what is known about the plans of all replicas if they use at most `bytes` bytes of each device's memory.
  /// With `opens`, this takes longer, but more is known.
  ReplicaBound bound(bool opens, std::int64_t bytes = no_limit, ShownPlans* known = nullptr) const {
    const Platform machine = within(request_.pricing.platform, bytes);
    return bound_of_replicas(policy_, request_.priced(request_.pricing.on(machine)), keys_.reader(),
                             opens, known);
  }

  /// Returns whether a replica searches for places of its tensors in two memories, although the policy offers no
  /// candidates. This is so under `resident` in inference. No bound then rules out choices for less memory, so only
  /// choices for all of the links are compared: a replica alone is the fastest with them.
  bool searches_places() const { return searches_places_; }

  /// Returns the fastest plan that was made. If no plan takes less than `worth` seconds, the result may have no plan.
  Settled fastest(double worth) const {
    Fastest best{.worth = worth};
    const Platform& whole = request_.pricing.platform;
    const bool shares = share_links(whole, share_) && !searches_places_;
    if (shares) compare(share_, /*whole=*/false, best);
    if (!shares || !long_step_) compare(whole, /*whole=*/true, best);
    if (!best.plan) return {};
    state_gap(best);
    return {.seconds = best.seconds, .plan = [plan = best.plan] { return *plan; }};
  }

 private:
  struct Fastest {
    double worth = 0, seconds = never;
    std::shared_ptr<const Plan> plan = {};
    /// The plans of all replicas that were compared so far, as texts of their digests. On less memory, a replica often
    /// makes the same choices with all of the links as with a share of them.
    std::set<std::string> compared = {};
    double to_beat() const { return std::min(worth, seconds); }
  };
  bool any_search_for_places() const {
    if (request_.workload.training || !have_two_memories(request_.pricing.platform, devices_))
      return false;
    const OneReplica first(policy_, request_, keys_.reader());
    const Reader& keys = first.keys.reader();
    return names_placement(policy_, keys) &&
           (!policy_.candidates || policy_.candidates(first.request, keys).empty());
  }
  /// In training, choices for less memory are compared in two memories only, and not if the strategy searches for
  /// fates: their plans fill each memory, so nearly each number of bytes would need a search of its own.
  bool compares_less_memory() const {
    if (!request_.capacity_enforced) return false;
    return !request_.workload.training || (have_two_memories(request_.pricing.platform, devices_) &&
                                           !request_.strategy().searches);
  }
  /// Compares the plans whose choices are made on `machine`: with the whole memory, and then, if choices for less
  /// memory are compared, again and again with one byte less than the last choices need. `whole` says whether a replica
  /// that runs alone on `machine` is at least as fast as all replicas together.
  void compare(const Platform& machine, bool whole, Fastest& best) const {
    const bool less_memory = compares_less_memory();
    // All plans of equal replicas change at the same capacity.
    const bool known_plans_help = less_memory && !equal_replicas(request_, devices_);
    KnownReplicas known;
    ShownPlans known_of_bound;
    for (std::int64_t bytes = no_limit; bytes > 0;) {
      ReplicaPlans parts;
      try {
        if (bytes < no_limit &&
            !(bound(/*opens=*/true, bytes, &known_of_bound).seconds < best.to_beat()))
          return;
        parts = replica_plans(policy_, request_, keys_.reader(), within(machine, bytes),
                              whole ? best.to_beat() : never, &known);
      } catch (const Infeasible&) {
        return;
      }
      if (whole && best.to_beat() < never && !(seconds_alone(parts) < best.to_beat())) return;
      const std::int64_t needed = less_memory ? keep_within_need(parts.plans, devices_) : 0;
      if (known_plans_help) known.last = parts;
      take(std::move(parts.plans), whole, best);
      bytes = std::min(bytes, needed) - 1;
    }
  }

  /// Makes the plan of all replicas from their plans, if the links can carry their bytes in time. Of two plans that take
  /// equally long, the one is taken whose choices were made with all of the links: bounds of its fates hold.
  void take(std::vector<Plan> parts, bool whole, Fastest& best) const {
    if (!(seconds_of_busiest_link(parts, request_.pricing.platform) < best.to_beat())) return;
    if (compares_less_memory() && !may_be_faster(parts, whole, best)) return;
    TimedPlan all = joined(policy_, request_, keys_.reader(), std::move(parts));
    const double seconds = all.seconds();
    if (whole ? !(seconds <= best.seconds) : !(seconds < best.seconds)) return;
    best.seconds = seconds;
    best.plan = std::make_shared<const Plan>(std::move(all.plan));
  }

  /// Returns whether a run of all replicas with these plans may be faster than the fastest so far: the plans were not
  /// compared yet, and each replica alone is fast enough if it has all of the links.
  bool may_be_faster(const std::vector<Plan>& parts, bool whole, Fastest& best) const {
    std::string all;
    std::map<std::string, const Plan*> different;
    for (const Plan& part : parts) {
      const std::string digest = run_digest(part);
      different.emplace(digest, &part);
      all += digest + ";";
    }
    if (!best.compared.insert(all).second) return false;
    return whole || std::ranges::all_of(different, [&](const auto& one) {
             Plan alone = *one.second;
             take_bandwidths(alone, request_.pricing.platform);
             return run_seconds(alone) < best.to_beat();
           });
  }

  /// If the strategy searches for fates, and no replica states a gap that holds, states the gap to the bound of all ways.
  void state_gap(Fastest& best) const {
    if (!request_.workload.training || !request_.strategy().searches) return;
    if (std::ranges::count(best.plan->facts, "gap", &Fact::name) > 0) return;
    const double least = bound(/*opens=*/true).seconds;
    if (!(least > 0)) return;
    Plan plan = *best.plan;
    plan.facts.push_back(gap_fact(best.seconds, least));
    best.plan = std::make_shared<const Plan>(std::move(plan));
  }

  /// Returns the machine with at most `bytes` bytes of memory on each device of a replica.
  Platform within(Platform machine, std::int64_t bytes) const {
    for (Device& device : machine.devices)
      if (bytes < no_limit && std::ranges::find(devices_, device.name) != devices_.end())
        device.memory().capacity = std::min(bytes, device.memory().capacity.value_or(bytes));
    return machine;
  }

  const Policy& policy_;
  const PolicyRequest& request_;
  Keys keys_;
  std::vector<std::string> devices_;
  Platform share_;  ///< the platform with each replica's share of the links
  bool long_step_;
  bool searches_places_;
};

/// Returns a candidate for the way, with these two members.
Candidate candidate(const std::shared_ptr<const ReplicaWay>& way, const std::string& text,
                    double at_least, std::int64_t ways) {
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
  return {.at_least = at_least, .ways = ways, .simulate = simulate};
}

/// Returns the candidate of inference. The choices are compared twice: with the whole bandwidth, and with a share of
/// it.
Candidate candidate_of_inference(const std::shared_ptr<const ReplicaWay>& way,
                                 const ReplicaBound& bound, const std::string& text) {
  return candidate(way, text, bound.seconds, 2 * std::max<std::int64_t>(bound.ways, 1));
}

/// Returns the candidate of training. If its bound does not rule it out, a better bound is computed before it is
/// simulated. Then it is also known if another strategy for fates leads to the same plans.
Candidate candidate_of_training(const std::shared_ptr<const ReplicaWay>& way,
                                const ReplicaBound& bound, const std::string& text) {
  return {.at_least = bound.seconds, .open = [way, text] {
            std::vector<Candidate> opened;
            try {
              const ReplicaBound better = way->bound(/*opens=*/true);
              opened.push_back(candidate(way, text, better.seconds, 1));
              if (!better.same_ways.empty())
                opened.back().same_ways = text + ";" + better.same_ways;
            } catch (const InputError&) {  // as in candidate()
            } catch (const Infeasible&) {
            }
            return opened;
          }};
}

}  // namespace

std::int64_t keep_within_need(std::vector<Plan>& parts, const std::vector<std::string>& devices) {
  std::int64_t most = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto pool = std::ranges::find(parts[k].pools, devices[k], &Pool::name);
    if (pool == parts[k].pools.end()) continue;
    if (!pool->limit) {
      // Only for a pool with a limit, the replay counts the bytes that it reserves.
      pool->limit = pool->limited() ? pool->most() : no_limit;
      const ReplayResult alone = replay(parts[k]);
      pool->limit = alone.reserved[static_cast<std::size_t>(pool - parts[k].pools.begin())];
    }
    most = std::max(most, *pool->limit);
  }
  return most;
}

bool is_long_step(const PolicyRequest& request) {
  if (request.workload.training) return false;
  const auto layers = static_cast<std::int64_t>(request.pricing.model.layers.size());
  return request.workload.micro_batches_per_step() > most_passes_of_layers / layers;
}

ReplicasAlone replicas_alone(const Policy& policy, const PolicyRequest& request, Keys keys,
                             const std::string& text) {
  const bool training = request.workload.training.has_value();
  const auto way = std::make_shared<const ReplicaWay>(policy, request, std::move(keys));
  const ReplicaBound bound = way->bound(/*opens=*/!training);
  ReplicasAlone alone{.choose = bound.ways > 0 || way->searches_places()};
  if (bound.seconds < never)
    alone.candidate = training ? candidate_of_training(way, bound, text)
                               : candidate_of_inference(way, bound, text);
  return alone;
}

}  // namespace sluice
