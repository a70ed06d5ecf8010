// Random small plans: streams, waits with distances, devices with one or two pools, shared pools,
// prefetches, computations that read over links, times before which an action does not start. Some
// of them block.
#pragma once

#include <random>

#include "plan/plan.hpp"

namespace sluice::test {

struct RandomPlanOptions {
  bool ties = false;          ///< seconds are multiples of 0.5, so that much happens at once
  bool shared_links = false;  ///< routes share links whose bandwidths differ by up to 1e5
  bool riffled = false;       ///< streams are interleaved at random: waits may look ahead
  bool owned_pools =
      false;  ///< the host's memory is unlimited: no pool is first come, first served
};

/// Valid by check_structure(); the same seed gives the same plan.
Plan random_plan(unsigned seed, const RandomPlanOptions& options = {});

}  // namespace sluice::test
