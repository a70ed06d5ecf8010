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
    if (owners_[weight].layer.empty())
      owners_[weight] = {.layer = node.name + "/", .statistics = true};
}

bool Weights::claim(const Node& node, const Draft& draft, std::int64_t parameters, Value& layer) {
  claim_statistics(node, draft);
  if (parameters == 0) return true;
  const std::vector<std::uint32_t> weights = of_inputs(node, draft.weights);
  std::int64_t own = 0, vectors = 0, shared = 0;
  const Owner* owner = nullptr;
  for (const std::uint32_t weight : weights) {
    const Weight& one = graph_.weights[weight];
    const bool owned = !owners_[weight].layer.empty();
    std::int64_t& count = one.vector ? vectors : owned ? shared : own;
    count = checked_add(count, one.elements, "parameters");
    if (one.vector || !owned) continue;
    if (owner && owner->layer != owners_[weight].layer) return false;
    owner = &owners_[weight];
  }
  if (own + vectors + shared != parameters) return false;
  if (owner && !tie(*owner, weights, vectors, shared, layer)) return false;
  const std::string& name = layer.find("name")->text();
  for (const std::uint32_t weight : weights)
    if (owners_[weight].layer.empty())
      owners_[weight] = {.layer = name, .parameters = own + vectors};
  return true;
}

/// Ties `layer` to the layer `owner`, which owns the matrices that `layer` reads. Does nothing and returns false if the
/// owner has other parameters that `layer` does not read.
bool Weights::tie(const Owner& owner, const std::vector<std::uint32_t>& weights,
                  std::int64_t vectors, std::int64_t shared, Value& layer) const {
  bool same = true;
  for (const std::uint32_t weight : weights) same = same && owners_[weight].layer == owner.layer;
  if (owner.statistics || owner.parameters != (same ? shared + vectors : shared)) return false;
  layer.set("tied", Value::make(owner.layer));
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
    const bool learned = draft.learns && (counted.count(weight) != 0 || one.learned());
    if (!learned || (!owners_[weight].layer.empty() && !one.vector)) continue;
    fresh = checked_add(fresh, one.elements, "parameters");
    claimed.push_back(weight);
  }
  for (const std::uint32_t weight : claimed)
    if (owners_[weight].layer.empty()) owners_[weight] = {.layer = layer, .parameters = fresh};
  return fresh;
}

OnnxElements Weights::elements() const {
  OnnxElements elements;
  for (std::size_t i = 0; i < owners_.size(); ++i) {
    std::int64_t& count = owners_[i].statistics      ? elements.statistics
                          : owners_[i].layer.empty() ? elements.unused
                                                     : elements.learned;
    count = checked_add(count, graph_.weights[i].elements, "elements");
    if (graph_.weights[i].quantised && &count == &elements.learned)
      elements.quantised = checked_add(elements.quantised, graph_.weights[i].elements, "elements");
  }
  return elements;
}

}  // namespace sluice::onnx_import
