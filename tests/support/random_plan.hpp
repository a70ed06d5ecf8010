// Random small plans. The plans have streams, waits with distances, devices with one or two pools, shared pools,
// prefetches, tensors of the iteration before, computations that read over links, and actions with `not_before`. Some of
// the plans end in a deadlock.
#pragma once

#include <random>

#include "plan/plan.hpp"

namespace sluice::test {

struct RandomPlanOptions {
  // All times are multiples of 0.5 s, so that several actions often end at the same time.
  bool ties = false;
  bool shared_links = false;  ///< routes share links; their bandwidths differ by factors up to 1e5
  bool riffled = false;       ///< streams are interleaved at random; waits may be for later actions
  bool owned_pools =
      false;  ///< host memory, which several devices share, has no limit: all other pools have an owner
};

/// Returns a plan that passes check_structure(). With the same standard library, a seed always gives the same plan.
Plan random_plan(unsigned seed, const RandomPlanOptions& options = {});

}  // namespace sluice::test
