#include "planning/training/batch_bytes.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/quantity.hpp"
#include "planning/training/training.hpp"

namespace sluice {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

/// Returns the sum, but at most 2^63 - 1. A run never holds so many bytes at once, so this is no error.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return a > most - b ? most : a + b;
}
std::int64_t times(std::int64_t count, std::int64_t bytes) {
  return bytes > most / count ? most : count * bytes;
}

}  // namespace

BatchBytes batch_bytes(const PolicyRequest& request, const Device& device, bool overlap) {
  const Chain chain = chain_of(request, device, {.overlap = overlap});
  const std::vector<StageState> states = states_of(request, device, {.overlap = overlap});
  BatchBytes bytes;
  // `read` is what a stage reads from the stage before, and `kept` is what a micro-batch keeps in all stages.
  std::int64_t state = 0, workspace = 0, read = chain.input.bytes, kept = chain.input.bytes;
  for (std::size_t s = 0; s < states.size(); ++s) {
    const ChainStage& link = chain.stages[s];
    const std::int64_t own = sum(states[s].weights, sum(states[s].gradients, states[s].optimizer));
    const std::int64_t made = sum(link.output.bytes, link.gradient);
    const std::int64_t tensors = sum(link.inner.bytes, made);
    const std::int64_t inside =
        std::max({link.pass_workspace, link.keep_workspace, link.backward_workspace});
    bytes.largest_stage = std::max(bytes.largest_stage, sum(sum(own, read), sum(tensors, inside)));
    state = sum(state, own);
    kept = sum(kept, tensors);
    workspace = std::max(workspace, inside);
    read = made;
  }
  const std::int64_t micro_batches = request.workload.batch / request.workload.micro_batch;
  bytes.all = sum(sum(state, workspace), times(micro_batches, kept));
  return bytes;
}

bool homes_fit(const PolicyRequest& request, const Program& step) {
  const std::optional<std::int64_t> room = request.pricing.platform.host().capacity;
  if (!room) return true;
  std::int64_t bytes = 0;
  for (const Program::Place& place : step.places)
    if (!request.real_machine || place.home != Program::Home::input)
      bytes = checked_add(bytes, place.bytes, "bytes in host memory");
  return bytes <= *room;
}

}  // namespace sluice
