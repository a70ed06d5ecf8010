// The request to a policy that plans one of several replicas, and what is known about all of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "planning/joined_replicas.hpp"
#include "policy/policy.hpp"

namespace sluice {

/// Returns the keys of the replicated policy for one device: the keys of `parameters`, without those that only the
/// replicating policy has.
Value replica_keys(const Reader& parameters, const std::string& policy, const std::string& device);

/// Returns whether the replicas sum their gradients over a ring.
bool sums_gradients(const Workload& workload, const Reader& parameters);

/// Returns the request for one replica on `platform`. `workload` must be the replica's share of the work.
PolicyRequest request_of_replica(const Platform& platform, const PolicyRequest& request,
                                 const Workload& workload, const Reader& parameters);

/// Returns whether the replicas on these devices are equal: all compute equally many batches, and their devices are
/// alike.
bool equal_replicas(const PolicyRequest& request, const std::vector<std::string>& devices);

/// Returns whether all replicas can have the plans of the first replica. Either they are equal, or they differ only in
/// their numbers of batches, in inference with two memories. Then a replica with fewer batches has the plan of the
/// first one without its last batch (plan/passes/fewer_batches.hpp). Returns false for models with caches of keys and
/// values, whose bytes depend on the number of batches, and for long steps.
bool plan_alike(const PolicyRequest& request, const Reader& parameters);

/// The request of a replica, and its keys. The platform must outlive this object. If no replica is given, it is the
/// first one.
struct OneReplica {
  OneReplica(const Policy& policy, const PolicyRequest& all, const Reader& parameters,
             const Platform& platform, std::size_t replica = 0);
  OneReplica(const Policy& policy, const PolicyRequest& all, const Reader& parameters);

  PolicyRequest request;
  Keys keys;

 private:
  OneReplica(const Policy& policy, const PolicyRequest& all, const Reader& parameters,
             const Platform& platform, const std::vector<std::string>& devices,
             std::size_t replica);
};

/// What is known about all replicas together, for the request of the first replica.
class TogetherKnown {
 public:
  TogetherKnown(const PolicyRequest& request, const Reader& parameters);
  TogetherKnown(const TogetherKnown&) = delete;

  /// Sets EqualReplicas::judged_together.
  void judge_together() { replicas_.judged_together = true; }
  /// Sets EqualReplicas::joined.
  void join(JoinedReplicas joined) {
    joined_ = std::move(joined);
    replicas_.joined = &joined_;
  }
  /// Returns null if the replicas are not equal. In inference, also returns null if a device has two memories, because
  /// then no bound counts several replicas. But after join(), it only returns null if the devices are not alike.
  const EqualReplicas* replicas(const PolicyRequest& request) const;

 private:
  std::vector<std::string> devices_;
  Platform share_;
  EqualReplicas replicas_;
  JoinedReplicas joined_;
};

}  // namespace sluice
