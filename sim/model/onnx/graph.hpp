// The graph of an ONNX model as plain data: what the converter needs, and nothing of ONNX or
// protobuf, whose users include proto.hpp. Shapes are ONNX's, batch included, channels first.
// Everything throws InputError; positions, where there are any, are lines of `listing`, one a node.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "document/record.hpp"
#include "model/model.hpp"

namespace sluice::onnx_import {

struct Attribute {
  std::optional<std::int64_t> integer;
  std::optional<double> number;  ///< also of a tensor of one element
  std::string text;
  std::vector<std::int64_t> integers;
};

struct Node {
  int line = 0;  ///< in the listing
  std::string name, op;
  bool known = true;                         ///< an operator of ONNX itself
  bool has_graphs = false;                   ///< bodies of a condition or a loop
  std::vector<std::string> inputs, outputs;  ///< tensors; empty: one that is left out
  std::map<std::string, Attribute> attributes;
  std::string fault;  ///< why its shapes could not be inferred; empty: they could

  bool has_input(std::size_t index) const;
  std::int64_t integer(const std::string& attribute, std::int64_t absent) const;
  double number(const std::string& attribute, double absent) const;
  std::string text(const std::string& attribute, const std::string& absent) const;
  /// Empty where there are none.
  const std::vector<std::int64_t>& integers(const std::string& attribute) const;
};

/// What constants are made of: an initialiser, or what an operator without inputs makes.
struct Weight {
  std::int64_t elements = 0;
  bool initialiser = false;
  bool vector = false;     ///< of one axis: a bias, a scale
  bool quantised = false;  ///< of integers, which DequantizeLinear turns into numbers
  bool scale = false;      ///< a vector made by a node and turned into [channels, 1, 1] by another

  /// Unless an operator has weights, a single number, or what a node makes, was not learned; but a
  /// scale is one, whether it stands in the file or a node makes it.
  bool learned() const { return (initialiser || scale) && elements > 1; }
};

/// Small constants as numbers: shapes, axes, scales.
using Numbers = std::vector<double>;
inline constexpr std::int64_t most_numbers = 4096;

struct Tensor {
  std::optional<Shape> shape;  ///< none: not known
  bool integral = false;       ///< of its element type
  bool floating = false;
  bool constant = false;               ///< does not depend on what the network is given
  std::vector<std::uint32_t> weights;  ///< of a constant: what it is made of, ascending
  std::optional<Numbers> numbers;      ///< its elements, where they are few and known
};

struct Graph {
  std::string name;
  std::int64_t opset = 0;      ///< of ONNX's own operators
  std::int64_t batch = 1;      ///< samples in the inputs
  std::size_t batch_axis = 0;  ///< of an input
  std::vector<Node> nodes;     ///< each after those that it reads
  std::vector<std::string> inputs, outputs;
  std::vector<Weight> weights;  ///< of floating-point elements
  std::unordered_map<std::string, Tensor> tensors;
  std::shared_ptr<const Source> listing;

  const Tensor* find(const std::string& tensor) const;
  /// A tensor that layers hand on: neither constant nor numbers that are known.
  bool is_data(const std::string& tensor) const;
  /// The numbers of a node's input; null where there are none.
  const Numbers* numbers(const Node& node, std::size_t input) const;

  [[noreturn]] void fail(const Node& node, const std::string& message) const;
  [[noreturn]] void fail(const std::string& message) const;
};

/// `keys`: batch, shapes, and values of symbolic dimensions. Infers all shapes that can be
/// inferred.
Graph read_graph(std::string_view bytes, const std::string& path, const Reader& keys);

/// The elements of each output of a node of which `outputs` is known but that, where those of its
/// inputs are known and it is one of the operators that compute shapes; else nothing.
std::vector<Numbers> fold(const Graph& graph, const Node& node, const std::vector<Tensor>& outputs);

/// A name as it may stand in a document: UTF-8 without control characters, not too long.
std::string clean(const std::string& name);

}  // namespace sluice::onnx_import
