// The policy `data_parallel` runs one replica of another policy on each device. The replicas share host memory, and
// also the links and ports that belong to the routes of several replicas. In inference, each replica computes some of
// the batches of a step. In training, each replica computes a part of each batch, and gradients are all-reduced before
// each update. The document 'PopART phased execution' describes two replicas: "two IPUs to perform computation at the
// same time, in a data-parallel fashion".
#include <utility>

#include "document/key.hpp"
#include "planning/replica.hpp"
#include "policy/settle/replica_candidates.hpp"
#include "policy/settle/replicas.hpp"

namespace sluice {

extern const Policy data_parallel_policy;

namespace {

std::vector<Value> alternatives(const PolicyRequest& request, const Reader& parameters) {
  return replica_alternatives(data_parallel_policy, request, parameters);
}
std::vector<Candidate> candidates(const PolicyRequest& request, const Reader& parameters) {
  return replica_candidates(data_parallel_policy, request, parameters);
}

Plan plan_data_parallel(const PolicyRequest& request, const Reader& parameters) {
  return plan_of_replicas(data_parallel_policy, request, parameters).plan;
}

/// Returns the plan of one replica, or nothing if there are few replicas (few_replicas()).
std::optional<Draft> plan_to_compare(const PolicyRequest& request, const Reader& parameters) {
  if (few_replicas(request, parameters)) return std::nullopt;
  return one_replica(acting_policy(data_parallel_policy, parameters), request, parameters,
                     shared_out(request.pricing.platform, replica_devices(request, parameters)));
}

/// In inference, replica_candidates() gives the bounds of the plans that are compared.
BoundOfWays at_least(const PolicyRequest& request, const Reader&) {
  if (!request.workload.training) return {};
  return [&request](const Reader& way) {
    return bound_of_replicas(acting_policy(data_parallel_policy, way), request, way).seconds;
  };
}

}  // namespace

const Policy data_parallel_policy = {
    .name = "data_parallel",
    .summary =
        "Each device runs a replica of another policy. In inference, a replica computes some of the batches. In "
        "training, it computes a part of each batch, and gradients are all-reduced.",
    .details =
        "Use this policy when a replica of the model can run on each device and you want a high "
        "throughput. The replicas run side by side. Replicas that use the same link share its bandwidth. "
        "In training, each replica computes a part of "
        "the batch, and the gradients cross the links of a ring before the update. With `all_reduce: "
        "overlapped`, these transfers run during the backward pass. If the scenario leaves overlap open and few "
        "replicas share links or sum gradients, plans without overlap are also compared. Few replicas are at most 8, "
        "or more if their steps are short.",
    .source =
        "PopART phased execution; the usual data parallelism; Li et al., PyTorch distributed (2020), section 3.2 "
        "(overlap)",
    .example = "sluice run data_parallel_ipu_pair workload.steps=2",
    .parameters =
        {
            Key::choice("replica", {},
                        "the policy of each replica; write the parameters of this policy next to "
                        "the key replica"),  // policy.cpp adds the names of replicable policies
            Key::list("devices", "the devices of the replicas, by default all devices").or_absent(),
            Key::choice(
                "all_reduce", {"overlapped", "after", "off"},
                "in training: when the replicas sum their gradients over a ring; overlapped: for each stage, during "
                "the backward pass of the other stages; after: when the whole backward pass has ended; off: never, "
                "each replica uses its own gradients. The update waits for the sums. Without an optimizer, the end of "
                "the batch waits for the sums")
                .by_default("overlapped"),
            Key::choice(
                "transfers", {"auto", "together", "in_turn"},
                "how transfers of several replicas share one link; together: at the same time, with equal shares; "
                "in_turn: one after the other; auto: the faster of the two ways")
                .by_default("auto"),
        },
    .modes = {{Mode::inference}, {Mode::training}},
    .all_devices = true,
    .replicates = true,
    .plan = plan_data_parallel,
    .alone = plan_to_compare,
    .candidates = candidates,
    .alternatives = alternatives,
    .at_least = at_least,
};

}  // namespace sluice
