// The operators with which exporters compute shapes inside a graph, on small constants.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "model/onnx/graph.hpp"

namespace sluice::onnx_import {
namespace {

using Inputs = std::vector<const Numbers*>;  ///< null: not known
using Binary = double (*)(double, double);

/// A whole number where an index or a count has to be one; within 64 bits.
std::int64_t whole(double number) {
  constexpr double limit = 9.2e18;
  if (std::isnan(number)) return 0;
  return static_cast<std::int64_t>(std::clamp(std::trunc(number), -limit, limit));
}

const std::map<std::string, Binary>& binaries() {
  static const std::map<std::string, Binary> known = {
      {"Add", [](double a, double b) { return a + b; }},
      {"Sub", [](double a, double b) { return a - b; }},
      {"Mul", [](double a, double b) { return a * b; }},
      {"Div", [](double a, double b) { return a / b; }},
      {"Min", [](double a, double b) { return std::min(a, b); }},
      {"Max", [](double a, double b) { return std::max(a, b); }},
      {"Pow", [](double a, double b) { return std::pow(a, b); }},
      {"Equal", [](double a, double b) { return a == b ? 1.0 : 0.0; }},
      {"Less", [](double a, double b) { return a < b ? 1.0 : 0.0; }},
      {"Greater", [](double a, double b) { return a > b ? 1.0 : 0.0; }},
      {"And", [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
      {"Or", [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
      {"Mod", [](double a, double b) { return a - b * std::floor(a / b); }},
  };
  return known;
}

/// Of equal lengths, or one of them a single number.
std::optional<Numbers> each(const Numbers& a, const Numbers& b, Binary apply) {
  if (a.empty() || b.empty()) return std::nullopt;
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1) return std::nullopt;
  Numbers result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = apply(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
  return result;
}

std::optional<Numbers> gather(const Numbers& data, const Numbers& indices) {
  Numbers result;
  const auto size = static_cast<std::int64_t>(data.size());
  for (const double number : indices) {
    const std::int64_t index = whole(number);
    if (index < -size || index >= size) return std::nullopt;
    result.push_back(data[static_cast<std::size_t>(index < 0 ? index + size : index)]);
  }
  return result;
}

std::int64_t first_of(const Graph& graph, const Node& node, std::size_t input,
                      const char* attribute, std::int64_t absent) {
  if (const Numbers* numbers = graph.numbers(node, input))
    return numbers->empty() ? absent : whole(numbers->front());
  const auto& integers = node.integers(attribute);
  return integers.empty() ? absent : integers.front();
}

/// Of one axis, forwards.
std::optional<Numbers> slice(const Graph& graph, const Node& node, const Numbers& data) {
  const auto size = static_cast<std::int64_t>(data.size());
  const auto within = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
  };
  const std::int64_t step = first_of(graph, node, 4, "steps", 1);
  if (step < 1) return std::nullopt;
  const std::int64_t begin = within(first_of(graph, node, 1, "starts", 0));
  const std::int64_t end =
      within(first_of(graph, node, 2, "ends", std::numeric_limits<std::int64_t>::max()));
  Numbers result;
  for (std::int64_t at = begin; at < end; at += std::min(step, end - at))
    result.push_back(data[static_cast<std::size_t>(at)]);
  return result;
}

std::optional<Numbers> range(const Inputs& in) {
  if (in.size() != 3 || !in[0] || !in[1] || !in[2]) return std::nullopt;
  if (in[0]->size() != 1 || in[1]->size() != 1 || in[2]->size() != 1) return std::nullopt;
  const double begin = in[0]->front(), end = in[1]->front(), step = in[2]->front();
  const double count = std::ceil((end - begin) / step);
  if (!(count <= static_cast<double>(most_numbers))) return std::nullopt;
  Numbers result;
  for (double i = 0; i < count; ++i) result.push_back(begin + i * step);
  return result;
}

std::optional<Numbers> where(const Inputs& in) {
  if (in.size() != 3 || !in[0] || !in[1] || !in[2]) return std::nullopt;
  std::size_t size = 1;
  for (const Numbers* part : in) {
    if (part->empty()) return std::nullopt;
    size = std::max(size, part->size());
  }
  for (const Numbers* part : in)
    if (part->size() != 1 && part->size() != size) return std::nullopt;
  const auto at = [&](std::size_t k, std::size_t i) {
    return (*in[k])[in[k]->size() == 1 ? 0 : i];
  };
  Numbers result(size);
  for (std::size_t i = 0; i < size; ++i) result[i] = at(0, i) != 0 ? at(1, i) : at(2, i);
  return result;
}

std::optional<Numbers> concat(const Inputs& in) {
  Numbers result;
  for (const Numbers* part : in) {
    if (!part) return std::nullopt;
    result.insert(result.end(), part->begin(), part->end());
  }
  return result;
}

std::optional<Numbers> reduced(const Node& node, const Numbers& data) {
  const std::string& op = node.op;
  if (data.empty()) return std::nullopt;
  double result = data.front();
  for (std::size_t i = 1; i < data.size(); ++i) {
    if (op == "ReduceProd") result *= data[i];
    if (op == "ReduceSum") result += data[i];
    if (op == "ReduceMax") result = std::max(result, data[i]);
    if (op == "ReduceMin") result = std::min(result, data[i]);
  }
  return Numbers{result};
}

std::optional<Numbers> filled(const Node& node, const Tensor& output) {
  std::int64_t elements = 1;
  if (!output.shape) return std::nullopt;
  for (const std::int64_t extent : *output.shape) {
    if (extent < 0 || extent > most_numbers) return std::nullopt;
    elements *= extent;
    if (elements > most_numbers) return std::nullopt;
  }
  return Numbers(static_cast<std::size_t>(elements), node.number("value", 0));
}

bool is_one_of(const std::string& op, std::initializer_list<const char*> ops) {
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

/// One axis at most: for these operators the order of the elements is that of the numbers.
bool is_flat(const Graph& graph, const Node& node) {
  for (const std::string& input : node.inputs) {
    const Tensor* tensor = graph.find(input);
    if (tensor && tensor->shape && tensor->shape->size() > 1) return false;
  }
  return true;
}

std::optional<Numbers> fold_flat(const Graph& graph, const Node& node, const Inputs& in) {
  const std::string& op = node.op;
  if (op == "Range") return range(in);
  if (op == "Where") return where(in);
  if (op == "Concat") return concat(in);
  if (in.empty() || !in[0]) return std::nullopt;
  if (op == "Slice") return slice(graph, node, *in[0]);
  if (is_one_of(op, {"ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin"}))
    return reduced(node, *in[0]);
  if (op == "Gather" && in.size() == 2 && in[1]) return gather(*in[0], *in[1]);
  const auto binary = binaries().find(op);
  if (binary != binaries().end() && in.size() == 2 && in[1])
    return each(*in[0], *in[1], binary->second);
  return std::nullopt;
}

std::optional<Numbers> fold_any(const Node& node, const Numbers& data) {
  if (is_one_of(node.op, {"Identity", "Cast", "Squeeze", "Unsqueeze", "Reshape", "Flatten"}))
    return data;
  using Unary = double (*)(double);
  static const std::map<std::string, Unary> unaries = {
      {"Neg", [](double a) { return -a; }},
      {"Abs", [](double a) { return std::abs(a); }},
      {"Floor", [](double a) { return std::floor(a); }},
      {"Ceil", [](double a) { return std::ceil(a); }},
      {"Sqrt", [](double a) { return std::sqrt(a); }},
      {"Not", [](double a) { return a == 0 ? 1.0 : 0.0; }},
  };
  const auto unary = unaries.find(node.op);
  if (unary == unaries.end()) return std::nullopt;
  Numbers result = data;
  for (double& number : result) number = unary->second(number);
  return result;
}

/// The shape of the first input, or its part from `start` to `end`.
std::optional<Numbers> shape_of(const Graph& graph, const Node& node) {
  const Tensor* tensor = node.has_input(0) ? graph.find(node.inputs[0]) : nullptr;
  if (!tensor || !tensor->shape) return std::nullopt;
  const Shape& shape = *tensor->shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto within = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t begin = within(node.integer("start", 0)),
                     end = within(node.integer("end", rank));
  Numbers result;
  for (std::int64_t i = begin; i < end; ++i)
    result.push_back(static_cast<double>(shape[static_cast<std::size_t>(i)]));
  return result;
}

std::optional<Numbers> fold_one(const Graph& graph, const Node& node, const Tensor& output) {
  if (node.op == "Shape") return shape_of(graph, node);
  if (node.op == "Size") {
    const std::optional<Numbers> shape = shape_of(graph, node);
    if (!shape) return std::nullopt;
    double size = 1;
    for (const double extent : *shape) size *= extent;
    return Numbers{size};
  }
  if (node.op == "ConstantOfShape") return filled(node, output);
  Inputs inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) inputs.push_back(graph.numbers(node, i));
  if (!inputs.empty() && inputs[0])
    if (std::optional<Numbers> made = fold_any(node, *inputs[0])) return made;
  return is_flat(graph, node) ? fold_flat(graph, node, inputs) : std::nullopt;
}

/// Into parts as long as the outputs.
std::vector<Numbers> split(const Graph& graph, const Node& node,
                           const std::vector<Tensor>& outputs) {
  const Numbers* data = graph.numbers(node, 0);
  if (!data || !is_flat(graph, node)) return {};
  std::vector<Numbers> parts;
  auto at = data->begin();
  for (const Tensor& output : outputs) {
    if (!output.shape || output.shape->size() != 1) return {};
    const std::int64_t size = output.shape->front();
    if (size < 0 || size > data->end() - at) return {};
    parts.emplace_back(at, at + size);
    at += size;
  }
  return parts;
}

}  // namespace

std::vector<Numbers> fold(const Graph& graph, const Node& node,
                          const std::vector<Tensor>& outputs) {
  if (node.op == "Split") return split(graph, node, outputs);
  if (outputs.size() != 1) return {};
  std::optional<Numbers> numbers = fold_one(graph, node, outputs.front());
  if (!numbers || static_cast<std::int64_t>(numbers->size()) > most_numbers) return {};
  for (double& number : *numbers) {
    if (std::isnan(number)) return {};
    if (outputs.front().integral) number = std::trunc(number);
  }
  return {std::move(*numbers)};
}

}  // namespace sluice::onnx_import
