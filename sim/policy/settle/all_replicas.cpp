#include "policy/settle/all_replicas.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "planning/replica.hpp"
#include "planning/run_seconds.hpp"
#include "policy/settle/one_replica.hpp"
#include "policy/settle/replicas.hpp"
#include "policy/settle/settle.hpp"

namespace sluice {
namespace {

/// Returns the platform on which all these devices have the least of their capacities.
Platform with_least_capacity(Platform platform, const std::vector<std::string>& devices) {
  std::optional<std::int64_t> least;
  for (const std::string& device : devices)
    if (const std::optional<std::int64_t>& own = platform.device(device).memory().capacity)
      least = std::min(*own, least.value_or(*own));
  for (Device& device : platform.devices)
    if (std::ranges::count(devices, device.name) > 0) device.memory().capacity = least;
  return platform;
}

/// Makes the plans of all replicas from the plans of the first one. If the devices have different capacities, the plans are
/// made for the least of them.
class AllReplicas {
 public:
  AllReplicas(const Policy& policy, const PolicyRequest& request, const Keys& keys,
              std::string text)
      : policy_(policy),
        asked_(request),
        keys_(keys),
        text_(std::move(text)),
        devices_(replica_devices(request, keys_.reader())),
        platform_(with_least_capacity(request.pricing.platform, devices_)),
        request_(request.priced(request.pricing.on(platform_))),
        known_(request_, keys_.reader()),
        first_(policy, request_, keys_.reader()) {
    known_.judge_together();
    first_.request.replicas = known_.replicas(first_.request);
    if (const EqualReplicas* const equal = first_.request.replicas)
      share_links_ = share_links(request_.pricing.platform, *equal->share);
  }
  AllReplicas(const AllReplicas&) = delete;

  /// Returns whether the ways of the first replica do not depend on the capacity, and all replicas can take the same
  /// way.
  bool take_the_same_way() const {
    const Platform& platform = request_.pricing.platform;
    return first_.request.replicas && !request_.strategy().searches &&
           std::ranges::all_of(devices_, [&](const std::string& device) {
             return platform.device(device).memories.size() == 1;
           });
  }

  /// Returns the candidates of the first replica. Their bounds hold for the run of all replicas.
  std::vector<Candidate> candidates_of_first() const {
    return policy_.candidates ? policy_.candidates(first_.request, first_.keys.reader())
                              : std::vector<Candidate>();
  }

  /// Returns the plan of all replicas for a way of the first replica. The result has no plan if it takes `worth`
  /// seconds or more.
  Settled together(const Settled& way, double worth) const {
    Settled all{.text = joined(text_, way.text)};
    if (!way.plan) return all;
    if (!share_links_ && !(way.seconds < worth)) return all;
    const Plan first = way.plan();
    if (share_links_ && !(seconds_alone(first) < worth)) return all;
    std::vector<Plan> parts;
    for (const std::string& device : devices_)
      parts.push_back(device == devices_.front()
                          ? first
                          : moved(first, request_.pricing.platform, devices_.front(), device));
    TimedPlan joint = joined(policy_, asked_, keys_.reader(), std::move(parts));
    all.seconds = joint.seconds();
    all.plan = [plan = std::make_shared<const Plan>(std::move(joint.plan))] { return *plan; };
    return all;
  }

 private:
  /// Returns the seconds of the first replica if it runs alone, with the whole bandwidth of the links. With all
  /// replicas, its run is hardly ever shorter: only if a slower transfer leaves more room in the memory.
  double seconds_alone(Plan first) const {
    take_bandwidths(first, request_.pricing.platform);
    return run_seconds(first);
  }

  const Policy& policy_;
  const PolicyRequest& asked_;
  Keys keys_;
  std::string text_;  ///< what differs between the keys and the scenario
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
                                                  const std::string& text) {
  if (!request.workload.training) return {};
  const auto replicas = std::make_shared<const AllReplicas>(policy, request, keys, text);
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
  for (Candidate& one : replicas->candidates_of_first())
    all.push_back(changed(std::move(one), of_all));
  return all;
}

}  // namespace sluice
