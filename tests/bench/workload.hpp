// The two workloads of the speed comparison, as plans: a pipeline of P stages and M micro-batches
// (GPipe or 1F1B), and a chain of N layers whose activations are offloaded and fetched again.
// Forward 1000 + h us, backward 2000 + h us with h a hash of (stage, micro-batch, kind) in 0..100;
// each transfer moves 16 MB at 25 GB/s, plus 10 us of latency that does not occupy the link.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"

namespace sluice::bench {

struct Pipeline {
  int stages = 4;
  int micro_batches = 8;
  bool one_f_one_b = true;
  bool hashed = true;  ///< off: h = 0
};

/// One computation of a stage, in the stage's order.
struct Step {
  bool backward;
  int micro_batch;
};
std::vector<Step> order_of_stage(const Pipeline& pipeline, int stage);
double compute_seconds(int stage, int micro_batch, bool backward, bool hashed);

constexpr std::int64_t transfer_bytes = 16'000'000;
constexpr double link_bandwidth = 25e9;  ///< byte/s
constexpr double link_latency_s = 10e-6;

Plan pipeline_plan(const Pipeline& pipeline);

/// Forward of all layers, each activation saved; then backward in reverse, each activation loaded
/// again after it was saved, at most two loads ahead of the backward.
Plan offload_plan(int layers, int iterations);

/// A body of `layers` computations, each with its own load (16 MB into a pool with room for
/// two), repeated. Its run must not need more memory with more iterations.
Plan loop_plan(int layers, int iterations);

}  // namespace sluice::bench
