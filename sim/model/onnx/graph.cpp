#include "model/onnx/graph.hpp"

#include "document/builder.hpp"

namespace sluice::onnx_import {

bool Node::has_input(std::size_t index) const {
  return index < inputs.size() && !inputs[index].empty();
}

std::int64_t Node::integer(const std::string& attribute, std::int64_t absent) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? absent : found->second.integer.value_or(absent);
}

double Node::number(const std::string& attribute, double absent) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? absent : found->second.number.value_or(absent);
}

std::string Node::text(const std::string& attribute, const std::string& absent) const {
  const auto found = attributes.find(attribute);
  return found == attributes.end() || found->second.text.empty() ? absent : found->second.text;
}

const std::vector<std::int64_t>& Node::integers(const std::string& attribute) const {
  static const std::vector<std::int64_t> none;
  const auto found = attributes.find(attribute);
  return found == attributes.end() ? none : found->second.integers;
}

const Tensor* Graph::find(const std::string& tensor) const {
  const auto found = tensors.find(tensor);
  return found == tensors.end() ? nullptr : &found->second;
}

bool Graph::is_data(const std::string& tensor) const {
  const Tensor* found = find(tensor);
  return found && !found->constant && !found->numbers;
}

const Numbers* Graph::numbers(const Node& node, std::size_t input) const {
  const Tensor* tensor = node.has_input(input) ? find(node.inputs[input]) : nullptr;
  return tensor && tensor->numbers ? &*tensor->numbers : nullptr;
}

void Graph::fail(const Node& node, const std::string& message) const {
  throw InputError(position_in(*listing, node.line, 1), message);
}

void Graph::fail(const std::string& message) const {
  throw InputError(Position{listing->name, 0, 0, ""}, message);
}

std::string clean(const std::string& name) {
  constexpr std::size_t longest = 200;
  std::string text = name.substr(0, longest);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '_';
  try {
    require_text(Source{"", text});
  } catch (const InputError&) {
    for (char& c : text)
      if (static_cast<unsigned char>(c) >= 0x80) c = '_';
  }
  return text;
}

}  // namespace sluice::onnx_import
