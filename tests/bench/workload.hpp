// The two workloads of the speed comparison, as plans: a pipeline of P stages and M micro-batches
// (GPipe or 1F1B), and a chain of N layers whose activations are offloaded and fetched again.
// Forward 1000 + h us, backward 2000 + h us with h a hash of (stage, micro-batch, kind) in 0..100;
// each transfer moves 16 MB at 25 GB/s, plus 10 us of latency that does not occupy the link.
#pragma once

#include "plan/plan.hpp"

namespace sluice::bench {

struct Pipeline {
  int stages = 4;
  int micro_batches = 8;
  bool one_f_one_b = true;
  bool hashed = true;  ///< off: h = 0
};

Plan pipeline_plan(const Pipeline& pipeline);

/// Forward of all layers, each activation saved; then backward in reverse, each activation loaded
/// again after it was saved, at most two loads ahead of the backward.
Plan offload_plan(int layers, int iterations);

}  // namespace sluice::bench
