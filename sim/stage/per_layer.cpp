// With the cut `per_layer`, each layer that computes becomes a stage.
#include "document/key.hpp"
#include "stage/stage.hpp"

namespace sluice {
namespace {

std::vector<std::uint32_t> last_layers(const CutRequest& request, const Reader& parameters) {
  const auto count = static_cast<std::uint32_t>(request.model.layers.size());
  const bool inputs_too = parameters.boolean("input_stage");
  std::vector<std::uint32_t> last;
  for (std::uint32_t layer = 0; layer < count; ++layer)
    if (inputs_too || !request.model.layers[layer].inputs.empty() || layer + 1 == count)
      last.push_back(layer);
  return last;
}

}  // namespace

extern const Cut per_layer_cut = {
    .name = "per_layer",
    .summary = "Makes each layer a stage. The input belongs to the first stage.",
    .details =
        "Use this cut to give each layer its own fate, to load weights layer by layer, or to see "
        "the cost of the finest "
        "cut. Each boundary is an activation that a policy may keep, move or recompute. Plans with this "
        "cut have more actions than plans with other cuts. So planning and simulation take longer.",
    .source = "the finest cut, as in Calculon and PyTorch's FSDP",
    .example = "sluice run alexnet_resident stages=per_layer",
    .parameters =
        {Key::boolean(
             "input_stage",
             "whether the input is a stage of its own. If it is, the copy of the input on the device "
             "has a fate of its own, as an activation has")
             .by_default("false")},
    .last_layers = last_layers,
    .ignores_prices = true,
};

}  // namespace sluice
