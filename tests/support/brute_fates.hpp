// The fastest execution of one training step of a small network, found by trying everything: each
// forward pass runs once, or twice with its second run before any backward pass; what it makes for
// the backward pass comes from either run or goes to host memory; each boundary may go there, too;
// and loads are listed at every place that keeps their order. It shares no code with the search
// that it checks but the numbers of the chain. Executions are those of the naive executor.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "fates/chain.hpp"

namespace sluice::test {

struct BruteForce {
  double seconds = std::numeric_limits<double>::infinity();  ///< infinity: nothing is faster
  std::int64_t tapes = 0;     ///< ways to choose fates that fit and could be faster
  std::int64_t executed = 0;  ///< plans that were executed
};

/// One micro-batch of a step whose weights take `weights_s` seconds to load, one stage after the
/// other, before the input. Only executions that take less than `below` count. With `overlap` copies
/// run during computation; otherwise everything takes turns.
BruteForce brute_force(const Chain& chain, std::int64_t budget,
                       const std::vector<double>& weights_s, bool overlap, double below);

}  // namespace sluice::test
