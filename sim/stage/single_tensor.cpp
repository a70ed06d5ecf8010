// The cut `single_tensor` ends a stage at each place where only one tensor crosses. So no tensor crosses two cuts.
//
// This matters in residual networks. A shortcut crosses several boundaries between the stages of `per_layer`. Plans with
// the cut `per_layer` hold the shortcut during all these stages, in addition to the tensors inside of the block.
#include "stage/stage.hpp"

namespace sluice {
namespace {

/// Returns for each layer the number of tensors whose last reader is this layer. Answers do not count, because no layer
/// reads them.
std::vector<std::uint32_t> deaths(const Model& model) {
  const auto count = static_cast<std::uint32_t>(model.layers.size());
  std::vector<std::uint32_t> last(count, count), dead(count + 1, 0);
  for (std::uint32_t layer = 0; layer < count; ++layer)
    for (const std::uint32_t input : model.layers[layer].inputs) last.at(input) = layer;
  for (const std::uint32_t reader : last) ++dead[reader];
  return dead;
}

std::vector<std::uint32_t> last_layers(const CutRequest& request, const Reader&) {
  const std::vector<Layer>& layers = request.model.layers;
  const std::vector<std::uint32_t> dead = deaths(request.model);
  std::uint32_t live = 0;  // how many tensors are live; the inputs are live from the beginning
  for (const Layer& layer : layers) live += layer.inputs.empty() ? 1 : 0;
  std::vector<std::uint32_t> last;
  for (std::uint32_t l = 0; l < layers.size(); ++l) {
    const bool computes = !layers[l].inputs.empty();
    live += computes ? 1 : 0;
    live -= dead[l];
    if (l + 1 == layers.size() || (computes && live == 1)) last.push_back(l);
  }
  return last;
}

}  // namespace

extern const Cut single_tensor_cut = {
    .name = "single_tensor",
    .summary =
        "Cuts at each place where only one tensor crosses: after each layer of a chain, and after "
        "each residual block.",
    .details =
        "Use this cut for networks with residual connections. Inside a block with a "
        "shortcut, several tensors cross between two layers. A cut between these two layers "
        "would move or keep all of these tensors. The cut `single_tensor` leaves such blocks "
        "whole. If several tensors cross at every place, the whole model is one "
        "stage.",
    .source =
        "Chen, Xu, Zhang and Guestrin, Training deep nets with sublinear memory cost (2016), "
        "section 3: a graph is divided where one node separates it",
    .example = "sluice run alexnet_resident model=resnet18 stages=single_tensor",
    .last_layers = last_layers,
    .ignores_prices = true,
};

}  // namespace sluice
