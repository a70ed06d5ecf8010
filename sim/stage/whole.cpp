// With the cut `whole`, the whole model is one stage.
#include "stage/stage.hpp"

namespace sluice {

extern const Cut whole_cut = {
    .name = "whole",
    .summary = "Makes the whole model one stage.",
    .details =
        "Use this cut when the whole model fits onto the device, or to compare it with other cuts. "
        "There is no boundary. So no activation is moved or kept between stages. A policy that "
        "loads weights stage by stage has to load all weights at once. All activations have "
        "the same fate.",
    .source = "no cut",
    .example = "sluice run alexnet_resident stages=whole",
    .last_layers =
        [](const CutRequest& request, const Reader&) {
          return std::vector<std::uint32_t>{
              static_cast<std::uint32_t>(request.model.layers.size()) - 1};
        },
    .ignores_prices = true,
};

}  // namespace sluice
