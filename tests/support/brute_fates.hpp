// Finds the fastest execution of one training step of a small network by an exhaustive search. Each forward pass runs
// once, or a second time before any of the backward passes. The tensors that a stage makes for the backward pass come
// from either run, or are saved to host memory. Boundaries may also be saved to host memory. Loads are listed at all
// positions that do not change the order of the loads. This search shares no code with the search that it checks,
// except the numbers of the chain. The naive executor executes the plans.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "fates/chain.hpp"

namespace sluice::test {

struct BruteForce {
  // Infinity if no execution is faster than `below`.
  double seconds = std::numeric_limits<double>::infinity();
  std::int64_t tapes = 0;     ///< the number of tapes that fit and could be faster than `below`
  std::int64_t executed = 0;  ///< the number of plans that were executed
};

/// Searches the executions of a step of one micro-batch. Before the input, the weights of each stage are loaded in
/// `weights_s` seconds. Only executions that take less than `below` count. With `overlap`, copies run during
/// computations; otherwise all actions run one after the other.
BruteForce brute_force(const Chain& chain, std::int64_t budget,
                       const std::vector<double>& weights_s, bool overlap, double below);

}  // namespace sluice::test
