// The two workloads of the speed comparison, as plans. The first is a pipeline of P stages and M micro-batches (GPipe
// or 1F1B). The second is a chain of N layers, whose activations are offloaded and loaded again. A forward pass takes
// 1000 + h us and a backward pass 2000 + h us. Here, h is a number from 0 to 100: a hash of the stage, the micro-batch
// and the direction. Each transfer moves 16 MB at 25 GB/s. The data arrive 10 us after the transfer has left the link.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"

namespace sluice::bench {

struct Pipeline {
  int stages = 4;
  int micro_batches = 8;
  bool one_f_one_b = true;
  bool hashed = true;  ///< if false, h is 0
};

/// One computation of a stage.
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

/// Returns the plan of a chain of layers with offloaded activations. First, the forward pass of each layer saves an
/// activation. Then the backward passes follow in reverse order. At most two activations are loaded ahead of the
/// current backward pass.
Plan offload_plan(int layers, int iterations);

/// Returns a plan whose body has `layers` computations. Before each computation, 16 MB are loaded into a pool with room
/// for two loads. While this plan runs, the memory of the process must not grow with the number of iterations.
Plan loop_plan(int layers, int iterations);

}  // namespace sluice::bench
