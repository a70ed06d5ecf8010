#include "fates/optimal/least_bytes.hpp"

#include <algorithm>

namespace sluice {

namespace {

/// Returns the bytes of a forward pass of stage s: the tensors that the pass reads or makes, and its workspace.
std::int64_t forward_bytes(const Chain& chain, std::size_t s) {
  const ChainStage& stage = chain.stages[s];
  std::int64_t tensors = stage.output.bytes;
  chain.each_read(s, [&](std::size_t b, bool) { tensors += chain.boundary(b).bytes; });
  tensors /= chain.side_by_side;
  const std::int64_t inner = stage.inner.bytes / chain.side_by_side;
  return tensors + std::min(stage.passing_workspace(), inner + stage.keeping_workspace());
}

/// Returns the bytes of the backward pass of stage s: the tensors that the pass reads, the gradients that it makes, and
/// its workspace. One of the tensors that it reads is the gradient of the output.
std::int64_t backward_bytes(const Chain& chain, std::size_t s) {
  const ChainStage& stage = chain.stages[s];
  std::int64_t tensors = stage.inner.bytes;
  if (s + 1 < chain.stages.size()) tensors += stage.gradient;
  if (stage.reads_output) tensors += stage.output.bytes;
  chain.each_read(s, [&](std::size_t b, bool backward) {
    if (backward) tensors += chain.boundary(b).bytes;
    if (b > 0) tensors += chain.stages[b - 1].gradient;
  });
  return tensors / chain.side_by_side + stage.backward_workspace;
}

}  // namespace

// If micro-batches run side by side, a tensor of one micro-batch may leave the device before the next micro-batch needs
// the room. So only the tensors of one micro-batch are certain to be on the device.
std::int64_t least_bytes_bound(const Chain& chain) {
  std::int64_t most = 0;
  for (std::size_t s = 0; s < chain.stages.size(); ++s)
    most = std::max(most, std::max(forward_bytes(chain, s), backward_bytes(chain, s)) +
                              chain.occupied_on(chain.device(s)));
  return most * static_cast<std::int64_t>(chain.devices);  // all of them on the device of the stage
}

}  // namespace sluice
