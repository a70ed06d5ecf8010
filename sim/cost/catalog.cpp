// The cost models. A new one is a file beside this one and a line here.
#include "model/catalog.hpp"
#include "cost/cost.hpp"

namespace sluice {

const Catalog<CostModel>& cost_catalog() {
  static const Catalog<CostModel> catalog("cost model", {
                                                            SLUICE_ENTRY(CostModel, peak_cost),
                                                            SLUICE_ENTRY(CostModel, roofline_cost),
                                                            SLUICE_ENTRY(CostModel, measured_cost),
                                                        });
  return catalog;
}

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

/// A layer reads all its weights, also those that it shares.
double weights_of(const Layer& layer) {
  return static_cast<double>(layer.parameters) + static_cast<double>(layer.shared);
}

}  // namespace

Work forward_work(const Model& model, const Layer& layer, std::int64_t samples, DType dtype) {
  if (layer.inputs.empty() || is_view(layer)) return {};
  const auto count = static_cast<double>(samples);
  const auto size = static_cast<double>(bytes_of(dtype));
  const double activations = static_cast<double>(layer.output) + inputs_of(model, layer) +
                             static_cast<double>(layer.cached);
  return {.flop = count * static_cast<double>(layer.flop),
          .bytes = size * (count * activations + weights_of(layer)),
          .measured_s = measured(model, layer.forward_s, samples),
          .written = size * count * static_cast<double>(layer.output),
          .layer = &layer,
          .pass = "forward",
          .samples = samples,
          .measured_batch = model.measured_batch};
}

Work backward_work(const Model& model, const Layer& layer, std::int64_t samples, DType dtype) {
  if (layer.inputs.empty() || is_view(layer)) return {};
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
          .bytes = size * (count * elements + 2 * weights_of(layer)) +
                   count * static_cast<double>(backward.kept_bytes),
          .measured_s = measured(model, layer.backward_s, samples),
          .written = size * (count * gradients + weights_of(layer)),
          .layer = &layer,
          .pass = "backward",
          .samples = samples,
          .measured_batch = model.measured_batch};
}

}  // namespace sluice
