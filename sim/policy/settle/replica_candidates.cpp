#include "policy/settle/replica_candidates.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/never.hpp"
#include "planning/replica.hpp"
#include "policy/settle/all_replicas.hpp"
#include "policy/settle/one_replica.hpp"
#include "policy/settle/replicas.hpp"
#include "policy/settle/replicas_alone.hpp"
#include "policy/settle/settle.hpp"
#include "policy/settle/unequal_replicas.hpp"

namespace sluice {
namespace {

/// Returns the keys of the replicas, and after them the same keys without overlap, if the scenario leaves overlap open.
std::vector<Keys> open_overlap(const Policy& replicating, const Policy& policy,
                               const Reader& parameters) {
  std::vector<Keys> all;
  all.emplace_back(parameters.map(), record_of(policy_catalog().find(replicating.name)));
  if (std::optional<Keys> in_order = without_overlap(replicating, policy, parameters.map()))
    all.push_back(std::move(*in_order));
  return all;
}

/// Returns whether the ways of all replicas are compared in runs of all replicas together.
bool compares_together(const PolicyRequest& request, const Reader& parameters) {
  return few_replicas(request, parameters) && delay_each_other(request, parameters);
}

/// Returns the placements with less freedom than this one. They are among its own if a replica runs alone.
std::vector<std::string> less_free(const std::string& placement) {
  const std::vector<std::string> order = {"none",   "all_slow",    "first_touch",
                                          "static", "synchronous", "asynchronous"};
  const auto found = std::ranges::find(order, placement);
  if (found == order.end() || found - order.begin() < 3) return {};
  return {order.begin(), found};
}

/// Collects the candidates of replicas for one mapping for `policy:`.
class ReplicaCandidates {
 public:
  /// Sets `*choose` when candidates have a choice.
  ReplicaCandidates(const Policy& replicating, const PolicyRequest& request,
                    const Reader& parameters, bool* choose)
      : policy_(acting_policy(replicating, parameters)),
        record_(record_of(policy_catalog().find(replicating.name))),
        request_(request),
        parameters_(parameters),
        choose_(choose) {
    const std::vector<std::string> devices = replica_devices(request, parameters);
    two_memories_ = have_two_memories(request.pricing.platform, devices);
    equal_ = plan_alike(request, parameters);
  }

  /// In two memories, the policy plans for shown machines, and each plan has a number of micro-batches in flight that
  /// is the best for a replica alone. So each number is also tried for placements.
  std::vector<Candidate> of_training(const Keys& keys) const {
    std::vector<Candidate> all = together(keys.map(), {});
    const bool compared = !all.empty();
    // If only the memories of the devices differ, these ways do not use the room that only some of them have.
    if (!compared || !equal_)
      for (Candidate& one : alone(ways(keys))) all.push_back(std::move(one));
    if (!compared || !two_memories_) return all;
    for (const Value& map : counts_of_replicas(policy_, request_, keys.reader()))
      for (Candidate& one : together(map, {.only_placed = true})) all.push_back(std::move(one));
    return all;
  }

  /// Placements in two memories are compared in runs of all replicas, if the replicas are equal. All other choices
  /// depend on the capacity.
  std::vector<Candidate> of_inference(const Keys& keys) const {
    std::vector<Candidate> all;
    for (const Value& map : ways(keys)) {
      std::vector<Candidate> of_map =
          together(map, {.only_placed = true, .only_plan = offers_one_plan(map)});
      if (of_map.empty()) of_map = alone({map});
      for (Candidate& one : of_map) all.push_back(std::move(one));
    }
    return all;
  }

 private:
  /// Returns whether a replica with two memories has only one plan in one memory.
  bool offers_one_plan(const Value& map) const try {
    const Keys keys(map, record_);
    const OneReplica first(policy_, request_, keys.reader());
    return two_memories_ && !names_placement(policy_, first.keys.reader()) &&
           (!policy_.candidates || policy_.candidates(first.request, first.keys.reader()).empty());
  } catch (const InputError&) {
    return false;
  } catch (const Infeasible&) {
    return false;
  }

  std::vector<Value> ways(const Keys& keys) const {
    std::vector<Value> maps = ways_of_replicas(policy_, request_, keys.reader());
    return two_memories_ ? with_less_freedom(std::move(maps)) : maps;
  }

  /// Returns the mappings, and those with placements of less freedom. A replica alone may take a placement with which
  /// all replicas are slower. Equal replicas compare all placements in two memories together, so for them only `none`
  /// is added.
  std::vector<Value> with_less_freedom(std::vector<Value> maps) const {
    for (std::size_t k = maps.size(); k-- > 0;) {
      const Keys keys(maps[k], record_);
      const OneReplica first(policy_, request_, keys.reader());
      if (!names_placement(policy_, first.keys.reader())) continue;
      for (const std::string& placement : less_free(first.keys.reader().text("placement"))) {
        if (equal_ && placement != "none") continue;
        Value map = maps[k];
        map.set("placement", Value::make(placement));
        const auto same = [&](const Value& other) { return difference(map, other).empty(); };
        if (std::ranges::none_of(maps, same)) maps.push_back(std::move(map));
      }
    }
    return maps;
  }

  /// Returns the candidates that are compared in runs of all replicas.
  std::vector<Candidate> together(const Value& map, const TogetherWanted& wanted) const try {
    std::vector<Candidate> all = candidates_of_all_replicas(
        policy_, request_, Keys(map, record_), difference(map, parameters_.map()), wanted);
    *choose_ = *choose_ || !all.empty();
    return all;
  } catch (const InputError&) {
    // If no way is possible, settle() makes the plan for which the scenario asks, and reports the error.
    return {};
  } catch (const Infeasible&) {
    return {};
  }

  /// Returns a candidate for each of these mappings. Replicas whose devices are not alike and share links compare
  /// combinations of their ways (unequal_replicas.hpp). Otherwise each replica chooses as if it ran alone.
  std::vector<Candidate> alone(std::vector<Value> maps) const {
    std::vector<Candidate> candidates;
    for (Value& map : maps) {
      const std::string text = difference(map, parameters_.map());
      try {
        std::optional<Candidate> unequal =
            candidate_of_unequal_replicas(policy_, request_, Keys(map, record_), text);
        if (unequal) {
          *choose_ = true;
          if (unequal->at_least < never) candidates.push_back(std::move(*unequal));
          continue;
        }
        ReplicasAlone way = replicas_alone(policy_, request_, Keys(std::move(map), record_), text);
        *choose_ = *choose_ || way.choose;
        if (way.candidate) candidates.push_back(std::move(*way.candidate));
      } catch (const InputError&) {
        // The scenario did not ask for this way, so its error is ignored.
      } catch (const Infeasible&) {
      }
    }
    return candidates;
  }

  const Policy& policy_;
  Record record_;
  const PolicyRequest& request_;
  const Reader& parameters_;
  bool* choose_;
  bool two_memories_ = false;
  bool equal_ = false;  ///< plan_alike()
};

}  // namespace

std::vector<Value> replica_alternatives(const Policy& replicating, const PolicyRequest& request,
                                        const Reader& parameters) {
  if (!compares_together(request, parameters)) return {};
  const Policy& policy = acting_policy(replicating, parameters);
  std::vector<Value> maps;
  for (const Keys& keys : open_overlap(replicating, policy, parameters))
    for (Value& way : ways_of_replicas(policy, request, keys.reader()))
      maps.push_back(std::move(way));
  return maps;
}

std::vector<Candidate> replica_candidates(const Policy& replicating, const PolicyRequest& request,
                                          const Reader& parameters) {
  if (!compares_together(request, parameters)) return {};
  const Policy& policy = acting_policy(replicating, parameters);
  std::vector<Candidate> candidates;
  bool choose = false;
  const bool training = request.workload.training.has_value();
  const ReplicaCandidates all(replicating, request, parameters, &choose);
  for (const Keys& keys : open_overlap(replicating, policy, parameters))
    for (Candidate& way : training ? all.of_training(keys) : all.of_inference(keys))
      candidates.push_back(std::move(way));
  if (!choose) candidates.clear();
  return candidates;
}

}  // namespace sluice
