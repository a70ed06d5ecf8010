// whole: the model is not cut.
#include "stage/stage.hpp"

namespace sluice {

extern const Cut whole_cut = {
    .name = "whole",
    .summary = "Makes the whole model one stage.",
    .source = "no cut",
    .example = "sluice run alexnet_resident stages=whole",
    .parameters = {},
    .last_layers =
        [](const CutRequest& request, const Reader&) {
          return std::vector<std::uint32_t>{
              static_cast<std::uint32_t>(request.model.layers.size()) - 1};
        },
    .ignores_prices = true,
};

}  // namespace sluice
