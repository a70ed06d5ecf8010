#include "fates/optimal/memory_views.hpp"

#include <algorithm>
#include <cstdint>

namespace sluice {
namespace {

using DeviceWeights = std::vector<double>;

/// Returns for each boundary the least weight of a device that may need it in the backward half: those of the stages
/// that read it, and that of the stage that makes it, if this stage's backward pass reads its output.
std::vector<double> weights_of_boundaries(const Chain& chain, const DeviceWeights& weights) {
  std::vector<double> least(chain.stages.size() + 1,
                            *std::max_element(weights.begin(), weights.end()));
  for (std::size_t s = 0; s < chain.stages.size(); ++s) {
    const auto reads = [&](std::size_t b) {
      least[b] = std::min(least[b], weights[chain.device(s)]);
    };
    chain.each_read(s, [&](std::size_t b, bool) { reads(b); });
    if (chain.stages[s].reads_output) reads(s + 1);
  }
  return least;
}

Chain weighted(const Chain& chain, const DeviceWeights& weights) {
  Chain view = chain;
  const auto multiply = [](std::int64_t& bytes, double weight) {
    bytes = static_cast<std::int64_t>(weight * static_cast<double>(bytes));
  };
  const std::vector<double> boundaries = weights_of_boundaries(chain, weights);
  // The relaxation only counts gradients that the last stage makes.
  const double last = weights[chain.device(chain.stages.size() - 1)];
  multiply(view.input.bytes, boundaries[0]);
  for (std::size_t s = 0; s < view.stages.size(); ++s) {
    ChainStage& stage = view.stages[s];
    const double own = weights[chain.device(s)];
    multiply(stage.output.bytes, boundaries[s + 1]);
    multiply(stage.gradient, last);
    for (std::int64_t* bytes : {&stage.inner.bytes, &stage.backward_workspace, &stage.turn.bytes})
      multiply(*bytes, own);
  }
  for (std::size_t d = 0; d < view.occupied.size(); ++d) multiply(view.occupied[d], weights[d]);
  return view;
}

}  // namespace

std::vector<Chain> memory_views(const Chain& chain) {
  std::vector<Chain> views = {chain};
  if (chain.devices == 1 || chain.stages.empty()) return views;
  for (std::size_t k = 0; k < chain.devices; ++k)
    for (const double part : {0.25, 0.5, 1.0}) {
      DeviceWeights weights(chain.devices, 1 - part);
      weights[k] += part * static_cast<double>(chain.devices);
      views.push_back(weighted(chain, weights));
    }
  return views;
}

}  // namespace sluice
