#include "policy/settle/all_replicas.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "plan/passes/fewer_batches.hpp"
#include "plan/tables.hpp"
#include "planning/joined_replicas.hpp"
#include "planning/only_candidate.hpp"
#include "planning/placement/placed_draft.hpp"
#include "planning/placement/turns/judged_run.hpp"
#include "planning/replica.hpp"
#include "planning/run_seconds.hpp"
#include "planning/run_seconds_below.hpp"
#include "policy/settle/one_replica.hpp"
#include "policy/settle/replicas.hpp"
#include "policy/settle/settle.hpp"

namespace sluice {
namespace {

/// Returns the platform on which all these devices have the least of their capacities. In two memories, the platform
/// does not change: replicas with other capacities are not equal there.
Platform with_least_capacity(Platform platform, const std::vector<std::string>& devices) {
  if (have_two_memories(platform, devices)) return platform;
  std::optional<std::int64_t> least;
  for (const std::string& device : devices)
    if (const std::optional<std::int64_t>& own = platform.device(device).memory().capacity)
      least = std::min(*own, least.value_or(*own));
  for (Device& device : platform.devices)
    if (std::ranges::count(devices, device.name) > 0) device.memory().capacity = least;
  return platform;
}

/// Makes the plans of all replicas from the plans of the first one. If the devices have different capacities, the plans
/// are made for the least of them.
class AllReplicas {
 public:
  AllReplicas(const Policy& policy, const PolicyRequest& request, const Keys& keys,
              std::string text, const TogetherWanted& wanted)
      : policy_(policy),
        asked_(request),
        keys_(keys),
        text_(std::move(text)),
        only_plan_(wanted.only_plan),
        devices_(replica_devices(request, keys_.reader())),
        platform_(with_least_capacity(request.pricing.platform, devices_)),
        request_(request.priced(request.pricing.on(platform_))),
        known_(request_, keys_.reader()),
        first_(policy, request_, keys_.reader()) {
    known_.judge_together();
    if (two_memories())
      known_.join({.plan = [this](const Plan& first) { return together(first); },
                   .transfers = transfers_of(keys_.reader()),
                   .devices = devices_,
                   .only_placed = wanted.only_placed});
    first_.request.replicas = known_.replicas(request_);
    if (const EqualReplicas* const equal = first_.request.replicas)
      share_links_ = share_links(request_.pricing.platform, *equal->share);
  }
  AllReplicas(const AllReplicas&) = delete;

  bool two_memories() const { return have_two_memories(request_.pricing.platform, devices_); }

  /// Returns whether the ways of the first replica do not depend on the capacity, and all replicas can take the same
  /// way, perhaps for fewer batches. In inference, this is so for placements in two memories.
  bool take_the_same_way() const {
    if (!first_.request.replicas || !plan_alike(request_, keys_.reader())) return false;
    if (request_.workload.training) return !request_.strategy().searches;
    if (!equal_replicas(request_, devices_) && has_cache_of_step()) return false;
    return two_memories() && (only_plan_ || names_placement(policy_, first_.keys.reader()));
  }

  /// Returns the candidates of the first replica. Their bounds hold for the run of all replicas. If the policy has none
  /// in inference, its plan is the only candidate.
  std::vector<Candidate> candidates_of_first() const {
    std::vector<Candidate> all;
    if (policy_.candidates && !only_plan_)
      all = policy_.candidates(first_.request, first_.keys.reader());
    if (!all.empty() || request_.workload.training) return all;
    all.push_back(only_candidate("", [this] { return plan_of_first(); }));
    return all;
  }

  /// Returns the plan of all replicas for a way of the first replica. The result has no plan if it takes `worth`
  /// seconds or more.
  Settled together(const Settled& way, double worth) const {
    Settled all{.text = joined(text_, way.text)};
    if (!way.plan) return all;
    const Plan first = way.plan();
    if (!share_links_ && !two_memories() && !(way.seconds < worth) && contention_free(first))
      return all;
    if (runs_all_replicas(first)) {
      all.seconds = way.seconds;
      all.plan = keeping(first);
      return all;
    }
    if (!(at_least(first) < worth)) return all;
    if (two_memories()) {
      const std::vector<const Device*> devices = {
          &request_.pricing.platform.device(devices_.front())};
      const JudgedRun run = judged_run(first, {first_.request, devices, worth});
      if (!run.plan) return all;
      all.seconds = run.seconds;
      all.text += run.text;
      all.plan = keeping(run.plan([](Plan&) {}));
      return all;
    }
    TimedPlan joint = joined(policy_, asked_, keys_.reader(), parts_of(first), worth);
    all.seconds = joint.seconds();
    all.plan = keeping(std::move(joint.plan));
    return all;
  }

 private:
  /// Returns whether the misses of a hardware cache depend on all batches of a step. Under `resident`, the policy
  /// offers no candidates, and each micro-batch has the same misses.
  bool has_cache_of_step() const {
    const Reader& keys = first_.keys.reader();
    return names_placement(policy_, keys) && keys.text("placement") == hardware_cache &&
           policy_.candidates && !policy_.candidates(first_.request, keys).empty();
  }

  /// Returns whether this is already a plan of all replicas (JoinedReplicas).
  bool runs_all_replicas(const Plan& plan) const {
    return std::ranges::all_of(devices_, [&](const std::string& device) {
      return std::ranges::any_of(plan.streams, [&](const Stream& stream) {
        return stream.kind == StreamKind::compute && stream.device == device;
      });
    });
  }

  /// Returns the policy's plan for the first replica. If it is a plan for one memory, it does not depend on the
  /// capacity.
  Plan plan_of_first() const {
    PolicyRequest request = first_.request;
    request.capacity_enforced = request.capacity_enforced && !only_plan_;
    Plan plan = finish(policy_.plan(request, first_.keys.reader()), request);
    for (Pool& pool : plan.pools) pool.enforced = first_.request.capacity_enforced;
    return plan;
  }

  /// Returns how many batches per step the first replica computes. No replica computes more.
  std::int64_t most_batches() const { return first_.request.workload.batches_per_step; }

  /// Returns the plan of each replica.
  std::vector<Plan> parts_of(const Plan& first) const {
    std::vector<Plan> parts;
    std::optional<Plan> fewer;  // for replicas that compute one batch less
    const auto count = static_cast<std::int64_t>(devices_.size());
    for (std::int64_t k = 0; k < count; ++k) {
      const bool equal = share_of(request_.workload, k, count).batches_per_step == most_batches();
      if (!equal && !fewer) fewer = without_last_batch(first, most_batches());
      const Plan& part = equal ? first : *fewer;
      parts.push_back(k == 0 ? part
                             : moved(part, request_.pricing.platform, devices_.front(),
                                     devices_[static_cast<std::size_t>(k)]));
    }
    return parts;
  }
  Plan together(const Plan& first) const {
    return joined_together(policy_, asked_, keys_.reader(), parts_of(first));
  }

  /// Returns a lower bound of the seconds of all replicas with this plan. In two memories, it holds with any sizes of
  /// the memories. Otherwise, it is the seconds of the first replica alone, with the whole bandwidth of the links. But
  /// if transfers of this replica share a link with each other, they may take turns in the run of all replicas, which
  /// may be faster. So the bound is then one that holds in any order of the transfers.
  double at_least(Plan first) const {
    const bool alone_is_fastest = !two_memories() && contention_free(first);
    if (alone_is_fastest && !share_links_) return 0;  // together() has compared these seconds
    take_bandwidths(first, request_.pricing.platform);
    return alone_is_fastest ? run_seconds(first) : least_seconds_of(first);
  }

  static bool contention_free(const Plan& plan) { return PlanTables(plan).contention_free(); }

  const Policy& policy_;
  const PolicyRequest& asked_;
  Keys keys_;
  std::string text_;  ///< what differs between the keys and the scenario
  bool only_plan_;    ///< TogetherWanted::only_plan
  std::vector<std::string> devices_;
  Platform platform_;      ///< the platform with the least capacity on each device
  PolicyRequest request_;  ///< the request for this platform
  TogetherKnown known_;
  OneReplica first_;
  bool share_links_ = false;
};

}  // namespace

std::vector<Candidate> candidates_of_all_replicas(const Policy& policy,
                                                  const PolicyRequest& request, const Keys& keys,
                                                  const std::string& text,
                                                  const TogetherWanted& wanted) {
  const auto replicas = std::make_shared<const AllReplicas>(policy, request, keys, text, wanted);
  if (!replicas->take_the_same_way()) return {};
  std::vector<Candidate> all;
  const auto unless_refused = [](const std::function<void()>& call) {
    try {
      call();
    } catch (const InputError&) {
    } catch (const Infeasible&) {
    }
  };
  const CandidateChange of_all = {
      .way = [replicas](Settled& way, double worth) { way = replicas->together(way, worth); },
      .guard = unless_refused,
      .before_same_ways = text + ";"};
  for (Candidate& one : replicas->candidates_of_first()) {
    // In two memories, runs within several limits and orders of transfers are compared. So there is always a choice.
    if (replicas->two_memories()) one.ways = std::max<std::int64_t>(one.ways, 2);
    all.push_back(changed(std::move(one), of_all));
  }
  return all;
}

}  // namespace sluice
