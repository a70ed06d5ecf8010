// Replicas: one policy makes a plan for each of several devices, and these plans are joined into one plan.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "planning/placement/turns/shown_plans.hpp"
#include "planning/replica.hpp"
#include "planning/run_seconds.hpp"
#include "policy/policy.hpp"

namespace sluice {

/// Returns the devices of the replicas: those that the key `devices` lists, by default all devices, but at most as many
/// as there are batches to compute. Throws InputError at the key if its list is wrong. Also throws InputError if a
/// batch of training cannot be divided equally among the devices.
std::vector<std::string> replica_devices(const PolicyRequest& request, const Reader& parameters);

/// Returns whether there are few replicas: at most 8, or more with so short a step that a run of all of them is soon
/// simulated. The choices of few replicas are compared by runs of all of them. The cuts and the fates of more
/// replicas are compared by the run of a single replica.
bool few_replicas(const PolicyRequest& request, const Reader& parameters);

/// Returns whether each of these devices has two memories.
bool have_two_memories(const Platform& platform, const std::vector<std::string>& devices);

/// Returns whether the key `placement` of the policy names a placement of tensors in two memories.
bool names_placement(const Policy& policy, const Reader& parameters);

/// Returns whether one replica may delay another one: because several replicas use the same link or the same second
/// memory, or because they sum their gradients. A replica that is planned alone does not know of these delays.
bool delay_each_other(const PolicyRequest& request, const Reader& parameters);

/// The plans of all replicas, in the order of replica_devices().
struct ReplicaPlans {
  std::vector<Plan> plans = {};
  /// Indexed by replica: the seconds of the way that was chosen for the replica, if it runs alone (Settlement).
  std::vector<std::optional<double>> chosen_s = {};
  /// Returns whether the judge chose the way of any replica.
  bool chose() const;
};

/// What is known from earlier calls of replica_plans() that differ only in the capacities of the devices' first
/// memories. These capacities become smaller from call to call.
struct KnownReplicas {
  std::vector<ShownPlans> shown_plans = {};  ///< indexed by replica
  /// The last plan of each replica. In its pool of the device, the limit is the number of bytes that the plan needs.
  /// The choices of a replica are the same until the capacity is smaller.
  ReplicaPlans last = {};
};

/// Returns the plan of each replica. The choices are made for the platform `chosen_on`. `parameters` has the parameters
/// of the replicating policy and those of `policy`. If the choices of a replica cannot lead to a run of the replica
/// alone that takes less than `worth` seconds, it may make any choices. If `known` is given, the function uses what is
/// known, and adds to it.
ReplicaPlans replica_plans(const Policy& policy, const PolicyRequest& request,
                           const Reader& parameters, const Platform& chosen_on,
                           double worth = std::numeric_limits<double>::infinity(),
                           KnownReplicas* known = nullptr);

/// Gives the links of the plan the bandwidths that they have on the platform.
void take_bandwidths(Plan& plan, const Platform& platform);

/// Returns how transfers of several replicas use one link: the key `transfers`.
ReplicaTransfers transfers_of(const Reader& parameters);

/// Joins the plans of the replicas into a plan for the platform of the request. Transfers of several replicas that use
/// one link at the same time share it.
Plan joined_together(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                     std::vector<Plan> parts);

/// Does what joined_together() does, and then makes the transfers use links as the key `transfers` says. If the plan
/// takes `worth` seconds or more, its known seconds may be infinite, and its transfers may not have an order.
TimedPlan joined(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                 std::vector<Plan> parts, double worth = std::numeric_limits<double>::infinity());

/// Returns the plan of all replicas: joined() of replica_plans().
TimedPlan replicated(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                     const Platform& chosen_on);

/// Returns the plan of a policy that replicates another policy. If replicas share links and make choices, two plans are
/// made, and the function returns the faster one. For the first plan, each replica chooses as if it had the whole
/// bandwidth of the links, for the second as if it had its share of them. Without few_replicas(), only the second plan
/// is made, to save time.
TimedPlan plan_of_replicas(const Policy& replicating, const PolicyRequest& request,
                           const Reader& parameters);

/// What is known about the plans of replicated() before they are made.
struct ReplicaBound {
  /// A lower bound of the seconds of all these plans. Infinite if no choices fit.
  double seconds = 0;
  /// In how many ways a replica can make its choices. 0 if it compares none.
  std::int64_t ways = 0;
  /// As in Candidate: a text for all ways of a replica. Empty if it is not known.
  std::string same_ways = {};
};

/// Returns the bound of a replica with these candidates: the least bound of all of them. With `opens`, candidates are
/// opened.
ReplicaBound bound_of_ways(const std::vector<Candidate>& all, bool opens);

/// Returns this bound if the choices are made on the platform of the request. The run of all replicas contains a run of
/// the first replica, which has the most batches. So the least bound of the candidates for the first replica is a
/// bound, because such bounds also hold for machines with slower copies: they hold if replicas share links and wait for
/// each other. In training, the bounds of the candidates also count what equal replicas do together (EqualReplicas),
/// under `resident` without the sums, and the copy engines of the all-reduce give another bound. With `opens`,
/// candidates are opened. This takes longer, but placements in two memories have a bound only then, and `same_ways` may
/// be known. If `known` is given, the function uses what is known from earlier calls that differ only in the capacities
/// of the devices' first memories, and adds to it. Throws InputError, Infeasible.
ReplicaBound bound_of_replicas(const Policy& policy, const PolicyRequest& request,
                               const Reader& parameters, bool opens = false,
                               ShownPlans* known = nullptr);

/// Returns the plan of the first replica only.
Plan one_replica(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                 const Platform& chosen_on);

/// Returns parameters for the ways that are compared in runs of all replicas together, because replicas that delay each
/// other may need another way than a replica alone. There is one element for each way in which all replicas can make
/// the open choices of the replicated policy. Before these, the first element is `parameters` itself: with it, each
/// replica chooses for itself. This element is left out if the replicas are equal and there are other elements: then
/// all replicas choose alike, so the other elements include what each of them would choose.
std::vector<Value> ways_of_replicas(const Policy& policy, const PolicyRequest& request,
                                    const Reader& parameters);

/// Returns parameters for each number of micro-batches in flight that is tried in training, if the scenario leaves this
/// number open. Otherwise returns nothing.
std::vector<Value> counts_of_replicas(const Policy& policy, const PolicyRequest& request,
                                      const Reader& parameters);

/// Returns `keys`, the keys of the policy `replicating`, with `overlap: false` added. Returns nothing in three cases:
/// the replicated `policy` has no parameter `overlap`, `keys` already gives it, or `keys` asks for early loads of
/// weights (`prefetch`).
std::optional<Keys> without_overlap(const Policy& replicating, const Policy& policy, Value keys);

}  // namespace sluice
