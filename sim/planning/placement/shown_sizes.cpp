#include "planning/placement/shown_sizes.hpp"

#include <algorithm>
#include <cmath>

#include "base/quantity.hpp"
#include "planning/training/training.hpp"

namespace sluice {
namespace {

/// How many sizes are compared. Plans of training take longer to make, so there are fewer.
constexpr int sizes_of_inference = 12, sizes_of_training = 6;

/// Adds bytes. Throws InputError on overflow.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return checked_add(a, b, "bytes of a step");
}

/// Returns the bytes of all weights, and of the micro-batches of two steps, or of one step if the run has only one. For
/// each micro-batch, these are the most bytes of a stage, and the bytes of an input and an answer that are in transfer
/// meanwhile. With many buffers, a plan may load inputs more than one step early, and may then need more bytes. Such a
/// plan is not placed.
std::int64_t bytes_of_two_steps(const PolicyRequest& request) {
  std::int64_t weights = cache_bytes(request), others = 0;
  const std::vector<StageBytes> stages = stage_bytes(request);
  for (const StageBytes& stage : stages) {
    weights = sum(weights, stage.weights);
    others = std::max(others, stage.input + stage.output + stage.workspace + stage.answer);
  }
  others = sum(others, sum(stages.front().input, stages.back().output));
  const std::int64_t steps = std::min<std::int64_t>(2, request.workload.steps);
  const std::int64_t count =
      checked_mul(steps, request.workload.micro_batches_per_step(), "micro-batches");
  return sum(weights, checked_mul(others, count, "bytes of two steps"));
}

/// In inference, the first machine holds all bytes of two steps. Each further machine has three quarters of the memory
/// of the machine before, so that the last one has 4 % of these bytes.
std::vector<std::int64_t> sizes_in_inference(const PolicyRequest& request) {
  std::vector<std::int64_t> sizes = {bytes_of_two_steps(request)};
  while (sizes.size() < sizes_of_inference) sizes.push_back(sizes.back() - sizes.back() / 4);
  return sizes;
}

/// In training, the first machine holds all tensors of a batch. The last one holds the tensors of the largest stage for
/// one micro-batch. The sizes between them have equal ratios.
std::vector<std::int64_t> sizes_in_training(const PolicyRequest& request,
                                            const CommonParameters& common) {
  const Chain chain = chain_of(request, common.device, false, common.overlap);
  const std::vector<StageState> states = states_of(request, common.device, false, common.overlap);
  std::int64_t state = 0, kept = chain.input.bytes, workspace = 0, stage = 0, read = kept;
  for (std::size_t s = 0; s < states.size(); ++s) {
    const ChainStage& link = chain.stages[s];
    const std::int64_t own = sum(states[s].weights, sum(states[s].gradients, states[s].optimizer)),
                       tensors = sum(link.inner.bytes, sum(link.output.bytes, link.gradient)),
                       inside = std::max(
                           {link.pass_workspace, link.keep_workspace, link.backward_workspace});
    stage = std::max(stage, sum(own, sum(read, sum(tensors, inside))));
    state = sum(state, own);
    kept = sum(kept, tensors);
    workspace = std::max(workspace, inside);
    read = sum(link.output.bytes, link.gradient);
  }
  const std::int64_t micro_batches = request.workload.batch / request.workload.micro_batch;
  const std::int64_t all =
      sum(sum(state, workspace), checked_mul(kept, micro_batches, "bytes of a batch"));
  std::vector<std::int64_t> sizes;
  const double ratio = static_cast<double>(stage) / static_cast<double>(all);
  for (int n = 0; n < sizes_of_training; ++n) {
    const double share = std::pow(ratio, static_cast<double>(n) / (sizes_of_training - 1));
    sizes.push_back(static_cast<std::int64_t>(std::ceil(share * static_cast<double>(all))));
  }
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace

std::vector<std::int64_t> shown_sizes(const PolicyRequest& request,
                                      const CommonParameters& common) {
  return request.workload.training ? sizes_in_training(request, common)
                                   : sizes_in_inference(request);
}

}  // namespace sluice
