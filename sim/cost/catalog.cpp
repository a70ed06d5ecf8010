// The cost models. A new one is a file beside this one and a line here.
#include "cost/cost.hpp"

namespace sluice {

const Catalog<CostModel>& cost_catalog() {
  static const Catalog<CostModel> catalog("cost model", {
                                                            SLUICE_ENTRY(CostModel, peak_cost),
                                                            SLUICE_ENTRY(CostModel, roofline_cost),
                                                        });
  return catalog;
}

Work forward_work(const Model& model, const Layer& layer, std::int64_t samples, DType dtype) {
  if (layer.inputs.empty()) return {};
  const auto count = static_cast<double>(samples);
  const auto size = static_cast<double>(bytes_of(dtype));
  double activations = static_cast<double>(layer.output);
  for (const std::uint32_t input : layer.inputs)
    activations += static_cast<double>(model.layers.at(input).output);
  return {.flop = count * static_cast<double>(layer.flop),
          .bytes = size * (count * activations + static_cast<double>(layer.parameters))};
}

}  // namespace sluice
