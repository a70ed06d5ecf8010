#include "model/onnx/weight_origins.hpp"

#include <set>

#include "base/quantity.hpp"

namespace sluice::onnx_import {

namespace {

/// If a constant is made from more weights than this, its weights are not recorded.
constexpr std::size_t most_weights = 1000;

}  // namespace

std::int64_t WeightOrigins::elements_of(const Shape& shape) const {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0) graph_.fail("an initialiser has a negative extent");
    elements = checked_mul(elements, extent, "elements of an initialiser");
  }
  return elements;
}

std::uint32_t WeightOrigins::add(const Weight& weight) {
  graph_.weights.push_back(weight);
  return static_cast<std::uint32_t>(graph_.weights.size() - 1);
}

/// Returns the inputs whose elements become a node's output: all inputs except the scales and zero points of quantised
/// tensors. If the file stores a quantised tensor, a node DequantizeLinear turns it into floating-point numbers. Then
/// this function adds the tensor as a weight.
std::vector<std::string> WeightOrigins::factors_of(const Node& node) {
  const bool turns = node.op == "DequantizeLinear";
  if ((!turns && node.op != "QuantizeLinear") || !node.has_input(0)) return node.inputs;
  Tensor& data = graph_.tensors.at(node.inputs[0]);
  if (turns && data.weights.empty() && !data.floating && data.shape) {
    data.weights = {add({.elements = elements_of(*data.shape),
                         .initialiser = true,
                         .vector = data.shape->size() < 2,
                         .quantised = true})};
  }
  return {node.inputs[0]};
}

void WeightOrigins::set(const Node& node, std::vector<Tensor>& outputs) {
  std::set<std::uint32_t> from;
  for (const std::string& input : factors_of(node))
    if (const Tensor* tensor = graph_.find(input))
      from.insert(tensor->weights.begin(), tensor->weights.end());
  const bool made_here = node.op == "Constant" || node.op == "ConstantOfShape";
  if (node.op == "Unsqueeze" && from.size() == 1) {
    Weight& weight = graph_.weights[*from.begin()];
    weight.scale = weight.scale || (weight.vector && !weight.initialiser);
  }
  for (Tensor& output : outputs) {
    if (from.empty() && output.floating && output.shape && (made_here || !output.numbers))
      output.weights = {
          add({.elements = elements_of(*output.shape), .vector = output.shape->size() < 2})};
    else if (from.size() <= most_weights)
      output.weights.assign(from.begin(), from.end());
  }
}

}  // namespace sluice::onnx_import
