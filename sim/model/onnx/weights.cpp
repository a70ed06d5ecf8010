#include "model/onnx/weights.hpp"

#include <algorithm>
#include <set>

#include "base/quantity.hpp"

namespace sluice::onnx_import {

std::vector<std::uint32_t> Weights::of_inputs(const Node& node,
                                              const std::vector<std::size_t>& inputs) const {
  std::set<std::uint32_t> all;
  for (const std::size_t input : inputs) {
    const Tensor* tensor = node.has_input(input) ? graph_.find(node.inputs[input]) : nullptr;
    if (tensor && tensor->constant) all.insert(tensor->weights.begin(), tensor->weights.end());
  }
  return {all.begin(), all.end()};
}

void Weights::claim_statistics(const Node& node, const Draft& draft) {
  for (const std::uint32_t weight : of_inputs(node, draft.statistics))
    if (owners_[weight].layer.empty()) owners_[weight] = {node.name + "/", 0, true};
}

bool Weights::claim(const Node& node, const Draft& draft, std::int64_t parameters, Value& layer) {
  const std::string& name = layer.find("name")->text();
  std::int64_t fresh = 0, shared = 0;
  const Owner* owner = nullptr;
  const std::vector<std::uint32_t> weights = of_inputs(node, draft.weights);
  for (const std::uint32_t weight : weights) {
    const std::int64_t elements = graph_.weights[weight].elements;
    if (owners_[weight].layer.empty()) {
      fresh = checked_add(fresh, elements, "parameters");
    } else {
      shared = checked_add(shared, elements, "parameters");
      if (owner && owner->layer != owners_[weight].layer) return false;
      owner = &owners_[weight];
    }
  }
  if (parameters > 0 && fresh + shared != parameters) return false;
  if (owner && parameters > 0) {
    if (owner->statistics || owner->parameters != shared) return false;
    layer.set("tied", Value::make(owner->layer));
  }
  if (parameters > 0)
    for (const std::uint32_t weight : weights)
      if (owners_[weight].layer.empty()) owners_[weight] = {name, fresh, false};
  claim_statistics(node, draft);
  return true;
}

std::int64_t Weights::claim_all(const Node& node, const Draft& draft, const std::string& layer) {
  claim_statistics(node, draft);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) all.push_back(i);
  const std::vector<std::uint32_t> weights = of_inputs(node, draft.weights);
  const std::set<std::uint32_t> counted(weights.begin(), weights.end());
  std::int64_t fresh = 0;
  std::vector<std::uint32_t> claimed;
  for (const std::uint32_t weight : of_inputs(node, all)) {
    const Weight& one = graph_.weights[weight];
    // Unless the operator has weights: a single number, or what a node makes, was not learned.
    const bool learned = counted.count(weight) != 0 || (one.initialiser && one.elements > 1);
    if (!learned || !owners_[weight].layer.empty()) continue;
    fresh = checked_add(fresh, one.elements, "parameters");
    claimed.push_back(weight);
  }
  for (const std::uint32_t weight : claimed) owners_[weight] = {layer, fresh, false};
  return fresh;
}

OnnxElements Weights::elements() const {
  OnnxElements elements;
  for (std::size_t i = 0; i < owners_.size(); ++i) {
    std::int64_t& count = owners_[i].statistics      ? elements.statistics
                          : owners_[i].layer.empty() ? elements.unused
                                                     : elements.learned;
    count = checked_add(count, graph_.weights[i].elements, "elements");
  }
  return elements;
}

}  // namespace sluice::onnx_import
