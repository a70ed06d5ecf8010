// Finds the fastest execution of one training step of a small network by an exhaustive search. Each forward pass runs
// once or twice. The second run is before one of the backward passes. The backward pass of a stage reads inner tensors
// of the first run, of the second run, or from host memory. Boundaries may also be saved. The order of the loads is
// fixed, and all positions of each load are tried. oracle.hpp executes the plans. The search that is checked shares
// only `Chain`, the seconds and bytes of the stages, with this search.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "fates/chain.hpp"

namespace sluice::test {

struct BruteForce {
  // The seconds of the fastest execution. If no execution is faster than `below`, infinity.
  double seconds = std::numeric_limits<double>::infinity();
  std::int64_t tapes = 0;     ///< the number of tapes that fit and could be faster than `below`
  std::int64_t executed = 0;  ///< the number of plans that were executed
};

/// Searches the executions of a step of one micro-batch. `weights_s` has, for each stage, the seconds that the load of
/// its weights takes. Weights are loaded before the input. Only executions of less than `below` seconds count. With
/// `overlap`, copies run during computations. Without `overlap`, all actions run one after the other.
BruteForce brute_force(const Chain& chain, std::int64_t budget,
                       const std::vector<double>& weights_s, bool overlap, double below);

}  // namespace sluice::test
