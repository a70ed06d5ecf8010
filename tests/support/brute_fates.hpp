// Finds the fastest execution of one training step of a small network by an exhaustive search. Each forward pass runs
// once or twice. If it runs twice, the second run is before one of the backward passes. The backward pass of a stage
// reads inner tensors from the first run, from the second run, or from host memory. Boundaries may be saved, too. The
// order of the loads is fixed, and all positions of each load are tried. oracle.hpp executes the plans. Tests compare
// Sluice's own search for fates with this search. The two searches share only `Chain`, which holds the seconds and
// bytes of the stages.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "fates/chain.hpp"

namespace sluice::test {

struct BruteForce {
  // The seconds of the fastest execution. Infinity if no execution takes less than `below` seconds.
  double seconds = std::numeric_limits<double>::infinity();
  std::int64_t tapes =
      0;  ///< the number of tapes that fit and could beat the fastest execution so far
  std::int64_t executed = 0;  ///< the number of plans that were executed
  std::string fastest;        ///< describes the fastest execution
};

/// Searches the executions of a step of one micro-batch. `weights_s` has the seconds of the loads of weights before
/// the input. If all weights stay on the device, these are the loads of all stages, by stage. If weights take turns
/// (ChainTurn), it is the load for the first run of a stage without `overlap`, and empty with `overlap`. Only executions
/// that take less than `below` seconds count. With `overlap`, copies run during computations. Weights that take turns are
/// then loads like all others, and the step has no updates: it saves the gradients of each stage, which have as many
/// bytes as the weights. Without `overlap`, all actions run one after the other.
BruteForce brute_force(const Chain& chain, std::int64_t budget,
                       const std::vector<double>& weights_s, bool overlap, double below);

/// The same for devices that take turns: device s mod n computes stage s, if there are n devices. `on` has the chain with
/// the prices of each device, and `budgets` has the bytes of each device. Each device has copy engines of its own. All
/// computations run one after the other. If a device needs a tensor that only another device has, the tensor goes through
/// host memory.
BruteForce brute_force(const std::vector<Chain>& on, const std::vector<std::int64_t>& budgets,
                       const std::vector<double>& weights_s, bool overlap, double below);

}  // namespace sluice::test
