#include "cost/work.hpp"

#include <algorithm>
#include <array>

#include "model/catalog.hpp"

namespace sluice {

namespace {

double inputs_of(const Model& model, const Layer& layer) {
  double elements = 0;
  if (reads_nothing(layer)) return elements;
  for (const std::uint32_t input : layer.inputs)
    elements += static_cast<double>(model.layers.at(input).output);
  return elements;
}

/// Returns the number of weights that a layer reads, including weights shared with other layers. A layer with
/// `weights_read` reads only the rows or matrices that the samples select. Any other layer reads all its weights.
double weights_of(const Layer& layer, double samples) {
  const double all = static_cast<double>(layer.parameters) + static_cast<double>(layer.shared);
  if (!layer.weights_read) return all;
  const auto elements_read = static_cast<double>(layer.weights_read->elements);
  return std::min(all, layer.weights_read->same_for_all ? elements_read : samples * elements_read);
}

}  // namespace

std::string_view name_of(Pass pass) {
  constexpr std::array<std::string_view, 6> names = {
      "forward", "backward", "backward_input", "backward_weight", "recompute", "update"};
  return names.at(static_cast<std::size_t>(pass));
}

bool does_work(const Layer& layer, Pass pass) {
  if (layer.inputs.empty() || is_view(layer)) return false;
  return pass == Pass::forward || pass == Pass::recompute || layer.backward.runs;
}

Work forward_work(const Model& model, const Layer& layer, std::int64_t samples, DType dtype) {
  if (!does_work(layer, Pass::forward)) return {};
  const auto count = static_cast<double>(samples);
  const auto size = static_cast<double>(bytes_of(dtype));
  const double activations = static_cast<double>(layer.output) + inputs_of(model, layer) +
                             static_cast<double>(layer.cached);
  return {.flop = count * static_cast<double>(layer.flop),
          .bytes = size * (count * activations + weights_of(layer, count)),
          .written = size * count * static_cast<double>(layer.output)};
}

Work backward_work(const Model& model, const Layer& layer, std::int64_t samples, DType dtype) {
  if (!does_work(layer, Pass::backward)) return {};
  const Backward& backward = layer.backward;
  const auto count = static_cast<double>(samples);
  const auto size = static_cast<double>(bytes_of(dtype));
  const double inputs = inputs_of(model, layer), output = static_cast<double>(layer.output);
  // If no earlier layer has weights, the input's gradient has 0 FLOP and is not computed.
  const double gradients = layer.macs > 0 && backward.input_flop == 0 ? 0 : inputs;
  const double elements = gradients + output + static_cast<double>(backward.kept) +
                          (backward.reads_inputs ? inputs : 0) +
                          (backward.reads_output ? output : 0);
  return {.flop = count * (static_cast<double>(backward.input_flop) +
                           static_cast<double>(backward.weight_flop)),
          .bytes = size * (count * elements + 2 * weights_of(layer, count)) +
                   count * static_cast<double>(backward.kept_bytes),
          .written = size * (count * gradients + weights_of(layer, count))};
}

double weight_bytes(const Layer& layer, std::int64_t samples, DType dtype) {
  return static_cast<double>(bytes_of(dtype)) * weights_of(layer, static_cast<double>(samples));
}

double share_of(const Backward& backward, Pass pass) {
  if (pass != Pass::backward_input && pass != Pass::backward_weight) return 1;
  const auto input = static_cast<double>(backward.input_flop),
             weight = static_cast<double>(backward.weight_flop);
  if (!(input + weight > 0)) return 0.5;
  return (pass == Pass::backward_input ? input : weight) / (input + weight);
}

Work work_of(const Model& model, const Layer& layer, Pass pass, std::int64_t samples, DType dtype) {
  if (pass == Pass::forward || pass == Pass::recompute)
    return forward_work(model, layer, samples, dtype);
  Work work = backward_work(model, layer, samples, dtype);
  if (pass == Pass::backward) return work;
  const double share = share_of(layer.backward, pass);
  for (double* part : {&work.flop, &work.bytes, &work.written}) *part *= share;
  return work;
}

}  // namespace sluice
