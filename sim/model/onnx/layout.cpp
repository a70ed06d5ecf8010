#include "model/onnx/layout.hpp"

#include <algorithm>
#include <numeric>

#include "base/quantity.hpp"
#include "model/onnx/rules.hpp"

namespace sluice::onnx_import {
namespace {

/// Sets of tensors. In all tensors of a set, the axes have the same meaning.
class Sets {
 public:
  std::uint32_t of(const std::string& tensor) {
    const auto [found, fresh] = index_.emplace(tensor, static_cast<std::uint32_t>(parent_.size()));
    if (fresh) parent_.push_back(found->second);
    return root(found->second);
  }
  void join(std::uint32_t a, std::uint32_t b) { parent_[root(a)] = root(b); }
  const std::unordered_map<std::string, std::uint32_t>& all() const { return index_; }

 private:
  std::uint32_t root(std::uint32_t at) {
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }
  std::unordered_map<std::string, std::uint32_t> index_;
  std::vector<std::uint32_t> parent_;
};

/// Returns some of the node's inputs and outputs: the tensors that depend on the samples and have as many axes as the
/// node's first output.
std::vector<std::string> alike(const Graph& graph, const Node& node) {
  std::vector<std::string> tensors;
  if (node.outputs.empty()) return tensors;
  const Tensor* first = graph.find(node.outputs.front());
  if (!first || !first->shape) return tensors;
  for (const auto* list : {&node.inputs, &node.outputs})
    for (const std::string& name : *list) {
      const Tensor* tensor = graph.find(name);
      if (graph.is_data(name) && tensor->shape && tensor->shape->size() == first->shape->size())
        tensors.push_back(name);
    }
  return tensors;
}

/// Returns the axis of the batch. If the shape has no such axis, returns the number of axes.
std::ptrdiff_t batch_axis_of(const Graph& graph, const Shape& shape) {
  const bool divides = !shape.empty() && shape.front() % graph.batch == 0;
  if (graph.batch_axis == 0 && divides) return 0;
  if (graph.batch_axis < shape.size() && shape[graph.batch_axis] == graph.batch)
    return static_cast<std::ptrdiff_t>(graph.batch_axis);
  const auto same = std::find(shape.begin(), shape.end(), graph.batch);
  return same == shape.end() && divides ? 0 : same - shape.begin();
}

}  // namespace

std::unordered_set<std::string> images_of(const Graph& graph) {
  Sets sets;
  std::vector<std::string> said;
  for (const Node& node : graph.nodes) {
    const OpRule* rule = rule_of(node);
    if (!rule || rule->axes == Axes::changed) continue;
    const std::vector<std::string> tensors = alike(graph, node);
    for (const std::string& tensor : tensors) sets.join(sets.of(tensor), sets.of(tensors.front()));
    if (rule->axes == Axes::image && !tensors.empty()) said.push_back(tensors.front());
  }
  std::unordered_set<std::uint32_t> image_sets;
  for (const std::string& tensor : said) image_sets.insert(sets.of(tensor));
  std::unordered_set<std::string> images;
  for (const auto& [tensor, index] : std::unordered_map(sets.all()))
    if (image_sets.count(sets.of(tensor)) != 0) images.insert(tensor);
  return images;
}

Sample sample_of(const Graph& graph, const Node& node, const Shape& shape, bool image) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements = checked_mul(elements, extent, "elements");
  if (elements == 0)
    graph.fail(node, "an output has an extent of 0, so the output has no elements");
  if (elements % graph.batch != 0)
    graph.fail(node, "an output of " + std::to_string(elements) +
                         " elements does not divide into " + std::to_string(graph.batch) +
                         " samples; use batch=1 to count the whole output as one sample");
  Sample sample{shape, std::vector<std::size_t>(shape.size())};
  std::iota(sample.axes.begin(), sample.axes.end(), std::size_t{0});
  const auto axis = sample.shape.begin() + batch_axis_of(graph, shape);
  if (axis == sample.shape.end()) return {{elements / graph.batch}, {}};
  *axis /= graph.batch;
  if (*axis != 1 || shape.size() < 2) return sample;
  sample.axes.erase(sample.axes.begin() + (axis - sample.shape.begin()));
  sample.shape.erase(axis);
  // In ONNX, the channels of an image come before its other axes. In Sluice, they come last: [C, H, W] becomes [H, W,
  // C].
  if (image && sample.shape.size() > 1) {
    std::rotate(sample.shape.begin(), sample.shape.begin() + 1, sample.shape.end());
    std::rotate(sample.axes.begin(), sample.axes.begin() + 1, sample.axes.end());
  }
  return sample;
}

}  // namespace sluice::onnx_import
