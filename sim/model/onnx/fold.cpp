// Evaluates operators whose inputs are small constants. With such operators, exporters compute shapes inside a graph.
#include <algorithm>
#include <cmath>
#include <functional>

#include "model/onnx/graph.hpp"

namespace sluice::onnx_import {
namespace {

using Inputs = std::vector<const Numbers*>;  ///< an element is null if the input is not known
using Binary = double (*)(double, double);

/// Converts a number to an index or a count: truncates the number to a whole number, and limits it to about +-2^63.
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

/// Applies a function element by element. Both inputs must have equal lengths, or one of them must be a single number.
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

/// A regular pattern of elements of a tensor. `first` is the index of the first element. For each axis,
/// `extents` has the number of elements, and `strides` has the distance from one element to the next.
struct Pattern {
  std::int64_t first = 0;
  Shape extents, strides;
};

/// Returns the pattern that contains all elements of a tensor with this shape.
Pattern all_of(const Shape& shape) {
  Pattern all{0, shape, Shape(shape.size(), 1)};
  for (std::size_t axis = shape.size(); axis-- > 1;)
    all.strides[axis - 1] = all.strides[axis] * shape[axis];
  return all;
}

/// Returns the elements of `data` that belong to the pattern, in the order of the pattern. The pattern has at most as
/// many elements as `data`.
Numbers read(const Numbers& data, const Pattern& pattern) {
  Numbers result;
  Shape at(pattern.extents.size(), 0);
  const auto is_empty = [](std::int64_t extent) { return extent == 0; };
  if (std::any_of(pattern.extents.begin(), pattern.extents.end(), is_empty)) return result;
  while (true) {
    std::int64_t index = pattern.first;
    for (std::size_t axis = 0; axis < at.size(); ++axis) index += at[axis] * pattern.strides[axis];
    result.push_back(data.at(static_cast<std::size_t>(index)));
    std::size_t axis = at.size();
    while (axis > 0 && ++at[axis - 1] == pattern.extents[axis - 1]) at[--axis] = 0;
    if (axis == 0) return result;
  }
}

/// Returns the shape of the node's first input. Returns null if the input's elements are not known, or if their number
/// does not match the shape.
const Shape* shape_of_numbers(const Graph& graph, const Node& node) {
  const Numbers* numbers = graph.numbers(node, 0);
  const Tensor* tensor = node.has_input(0) ? graph.find(node.inputs[0]) : nullptr;
  if (!numbers || !tensor->shape) return nullptr;
  std::int64_t elements = 1;
  for (const std::int64_t extent : *tensor->shape) {
    if (extent < 1 || extent > most_numbers) return nullptr;
    elements *= extent;
    if (elements > most_numbers) return nullptr;
  }
  return elements == static_cast<std::int64_t>(numbers->size()) ? &*tensor->shape : nullptr;
}

std::optional<Numbers> transposed(const Graph& graph, const Node& node) {
  const Shape* shape = shape_of_numbers(graph, node);
  if (!shape) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(shape->size());
  std::vector<std::int64_t> order = node.integers("perm");
  if (order.empty())
    for (std::int64_t axis = rank; axis-- > 0;) order.push_back(axis);
  const Pattern from = all_of(*shape);
  Pattern to;
  std::vector<bool> taken(shape->size(), false);
  for (const std::int64_t axis : order) {
    if (axis < 0 || axis >= rank || taken[static_cast<std::size_t>(axis)]) return std::nullopt;
    const auto index = static_cast<std::size_t>(axis);
    taken[index] = true;
    to.extents.push_back(from.extents[index]);
    to.strides.push_back(from.strides[index]);
  }
  if (order.size() != shape->size()) return std::nullopt;
  return read(*graph.numbers(node, 0), to);
}

/// Keeps every `step`-th element of one axis, from `begin` to the element before `end`. A negative `step` goes
/// backwards.
void cut(Pattern& pattern, std::size_t axis, std::int64_t begin, std::int64_t end,
         std::int64_t step) {
  const std::int64_t extent = pattern.extents[axis];
  const bool back = step < 0;
  const auto within = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + extent : at, back ? -1 : 0,
                                    back ? extent - 1 : extent);
  };
  const std::int64_t from = within(begin);
  // A negative `end` counts from the end of the axis. If `step` and `end` are both negative and `end` is below -extent,
  // the pattern includes element 0.
  const std::int64_t to = back && end < -extent ? -1 : within(end);
  const std::int64_t by =
      std::clamp<std::int64_t>(back ? -std::max(step, -most_numbers) : step, 1, most_numbers);
  const std::int64_t length = back ? from - to : to - from;
  pattern.extents[axis] = length > 0 ? (length - 1) / by + 1 : 0;
  pattern.first += std::max<std::int64_t>(from, 0) * pattern.strides[axis];
  pattern.strides[axis] *= back ? -by : by;
}

std::optional<Numbers> slice(const Graph& graph, const Node& node) {
  const Shape* shape = shape_of_numbers(graph, node);
  if (!shape) return std::nullopt;
  const auto bounds = [&](std::size_t input, const char* attribute) {
    const Numbers* numbers = graph.numbers(node, input);
    std::vector<std::int64_t> all = node.integers(attribute);
    if (numbers) all.clear();
    for (std::size_t i = 0; numbers && i < numbers->size(); ++i)
      all.push_back(whole((*numbers)[i]));
    return all;
  };
  const auto begin = bounds(1, "starts"), end = bounds(2, "ends"), axes = bounds(3, "axes"),
             steps = bounds(4, "steps");
  const auto rank = static_cast<std::int64_t>(shape->size());
  Pattern pattern = all_of(*shape);
  std::vector<bool> taken(shape->size(), false);
  for (std::size_t i = 0; i < begin.size(); ++i) {
    const std::int64_t given = i < axes.size() ? axes[i] : static_cast<std::int64_t>(i);
    const std::int64_t axis = given < 0 ? given + rank : given;
    const std::int64_t step = i < steps.size() ? steps[i] : 1;
    if (i >= end.size() || axis < 0 || axis >= rank || step == 0) return std::nullopt;
    if (taken[static_cast<std::size_t>(axis)]) return std::nullopt;
    taken[static_cast<std::size_t>(axis)] = true;
    cut(pattern, static_cast<std::size_t>(axis), begin[i], end[i], step);
  }
  return begin.empty() ? std::nullopt : std::optional(read(*graph.numbers(node, 0), pattern));
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

/// Returns whether each input has at most one axis. If so, an operator that works along an axis works on the whole list
/// of numbers.
bool is_flat(const Graph& graph, const Node& node) {
  for (const std::string& input : node.inputs) {
    const Tensor* tensor = graph.find(input);
    if (tensor && tensor->shape && tensor->shape->size() > 1) return false;
  }
  return true;
}

std::optional<Numbers> fold_flat(const Node& node, const Inputs& in) {
  const std::string& op = node.op;
  if (op == "Range") return range(in);
  if (op == "Where") return where(in);
  if (op == "Concat") return concat(in);
  if (in.empty() || !in[0]) return std::nullopt;
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

/// Returns the extents of the first input's shape, as the operator Shape does. With the attributes `start` and `end`,
/// returns only the extents of the axes from `start` to the axis before `end`.
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
  if (node.op == "Slice") return slice(graph, node);
  if (node.op == "Transpose") return transposed(graph, node);
  Inputs inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) inputs.push_back(graph.numbers(node, i));
  if (!inputs.empty() && inputs[0])
    if (std::optional<Numbers> made = fold_any(node, *inputs[0])) return made;
  return is_flat(graph, node) ? fold_flat(node, inputs) : std::nullopt;
}

/// Splits a constant into one part per output. Each part is as long as its output.
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
