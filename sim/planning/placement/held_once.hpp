// A request for a device that keeps all weights. Its stages count tied weights once.
#pragma once

#include <vector>

#include "planning/joined_replicas.hpp"
#include "planning/weights_stay.hpp"

namespace sluice {

struct HeldOnce {
  explicit HeldOnce(const PolicyRequest& asked)
      : stages(held_once(asked.pricing.stages)), request(with_stages(asked, stages)) {
    if (!asked.replicas) return;
    replicas = *asked.replicas;
    replicas.sums_s.clear();  // the bounds of the policy do not count sums
    replicas.sums_differ_s = 0;
    request.replicas = &replicas;
  }
  HeldOnce(const HeldOnce&) = delete;

  std::vector<Stage> stages;
  EqualReplicas replicas;
  PolicyRequest request;  ///< refers to the members above
};

}  // namespace sluice
