// The cost models. A new one is a file beside this one and a line here.
#include <algorithm>

#include "cost/cost.hpp"
#include "model/catalog.hpp"

namespace sluice {

// clang-format off
const Catalog<CostModel>& cost_catalog() {
  static const Catalog<CostModel> catalog("cost model", {
      SLUICE_ENTRY(CostModel, peak_cost),
      SLUICE_ENTRY(CostModel, roofline_cost),
      SLUICE_ENTRY(CostModel, measured_cost),
  });
  return catalog;
}
// clang-format on

namespace {

std::optional<double> measured(const Model& model, std::optional<double> seconds,
                               std::int64_t samples) {
  return model.measured_batch == samples ? seconds : std::nullopt;
}

double inputs_of(const Model& model, const Layer& layer) {
  double elements = 0;
  for (const std::uint32_t input : layer.inputs)
    elements += static_cast<double>(model.layers.at(input).output);
  return elements;
}

/// The weights that a layer reads, also of those that it shares: all, or at most what it picks.
double weights_of(const Layer& layer, double samples) {
  const double all = static_cast<double>(layer.parameters) + static_cast<double>(layer.shared);
  if (!layer.picked) return all;
  const auto picked = static_cast<double>(layer.picked->elements);
  return std::min(all, layer.picked->same_for_all ? picked : samples * picked);
}

}  // namespace

Work forward_work(const Model& model, const Layer& layer, std::int64_t samples, DType dtype) {
  if (layer.inputs.empty() || is_view(layer)) return {};
  const auto count = static_cast<double>(samples);
  const auto size = static_cast<double>(bytes_of(dtype));
  const double activations = static_cast<double>(layer.output) + inputs_of(model, layer) +
                             static_cast<double>(layer.cached);
  return {.flop = count * static_cast<double>(layer.flop),
          .bytes = size * (count * activations + weights_of(layer, count)),
          .measured_s = measured(model, layer.forward_s, samples),
          .written = size * count * static_cast<double>(layer.output),
          .layer = &layer,
          .pass = "forward",
          .samples = samples,
          .measured_batch = model.measured_batch};
}

Work backward_work(const Model& model, const Layer& layer, std::int64_t samples, DType dtype) {
  if (layer.inputs.empty() || is_view(layer) || !layer.backward.runs) return {};
  const Backward& backward = layer.backward;
  const auto count = static_cast<double>(samples);
  const auto size = static_cast<double>(bytes_of(dtype));
  const double inputs = inputs_of(model, layer), output = static_cast<double>(layer.output);
  // A product whose input's gradient takes no FLOP is one before which nothing has weights.
  const double gradients = layer.macs > 0 && backward.input_flop == 0 ? 0 : inputs;
  const double elements = gradients + output + static_cast<double>(backward.kept) +
                          (backward.reads_inputs ? inputs : 0) +
                          (backward.reads_output ? output : 0);
  return {.flop = count * (static_cast<double>(backward.input_flop) +
                           static_cast<double>(backward.weight_flop)),
          .bytes = size * (count * elements + 2 * weights_of(layer, count)) +
                   count * static_cast<double>(backward.kept_bytes),
          .measured_s = measured(model, layer.backward_s, samples),
          .written = size * (count * gradients + weights_of(layer, count)),
          .layer = &layer,
          .pass = "backward",
          .samples = samples,
          .measured_batch = model.measured_batch};
}

}  // namespace sluice
