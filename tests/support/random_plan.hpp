// Random small plans: streams, waits with distances, devices with one or two pools, shared pools,
// prefetches, computations that read over links, times before which an action does not start. Some
// of them block.
#pragma once

#include <random>

#include "plan/plan.hpp"

namespace sluice::test {

struct RandomPlanOptions {
  bool ties = false;  ///< seconds that are multiples of a half, so that much happens at once
  bool shared_links = false;  ///< routes cross links of others, a factor of up to 1e5 apart
  bool riffled = false;       ///< streams are listed in a random turn: waits look ahead, too
  bool owned_pools = false;   ///< the host's memory has no end: no pool is first come, first served
};

/// Valid by check_structure(); the same seed gives the same plan.
Plan random_plan(unsigned seed, const RandomPlanOptions& options = {});

}  // namespace sluice::test
