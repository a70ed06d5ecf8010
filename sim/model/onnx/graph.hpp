// The graph of an ONNX model as plain data: all that the converter needs, without types of ONNX or protobuf. (Files
// that use those types include proto.hpp.) Shapes are as in ONNX: they include the batch, and channels come first.
// All functions throw InputError. If an error has a position, this is a line of `listing`, which has one line per
// node.
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
  std::optional<double> number;  ///< also the value of a tensor of one element
  std::string text;
  std::vector<std::int64_t> integers;
};

struct Node {
  int line = 0;  ///< in the listing
  std::string name, op;
  bool known = true;        ///< false if the operator is not one of ONNX itself
  bool has_graphs = false;  ///< it contains the bodies of a condition or a loop
  /// Names of tensors; "" for an optional tensor that is left out.
  std::vector<std::string> inputs, outputs;
  std::map<std::string, Attribute> attributes;
  /// The reason why its shapes could not be inferred; empty if they were inferred.
  std::string fault;

  bool has_input(std::size_t index) const;
  std::int64_t integer(const std::string& attribute, std::int64_t absent) const;
  double number(const std::string& attribute, double absent) const;
  std::string text(const std::string& attribute, const std::string& absent) const;
  /// Returns the list of integers; empty if the attribute is absent.
  const std::vector<std::int64_t>& integers(const std::string& attribute) const;
};

/// A source of constants: an initialiser, or the output of a node without inputs.
struct Weight {
  std::int64_t elements = 0;
  bool initialiser = false;
  bool vector = false;     ///< it has one axis: a bias, a scale
  bool quantised = false;  ///< its elements are integers, which DequantizeLinear turns into numbers
  /// Whether it is a vector that one node makes and another node reshapes to [channels, 1, 1].
  bool scale = false;

  /// Returns whether the weight counts as learned. This is used where no operator says that an input is a weight. A
  /// weight is learned if the file stores it, or if it is a scale that a node makes. A single number is not learned.
  bool learned() const { return (initialiser || scale) && elements > 1; }
};

/// The elements of small constants as numbers: shapes, axes, scales.
using Numbers = std::vector<double>;
inline constexpr std::int64_t most_numbers = 4096;

struct Tensor {
  std::optional<Shape> shape;  ///< none: not known
  bool integral = false;       ///< its element type is an integer
  bool floating = false;
  bool constant = false;  ///< whether it is independent of the inputs of the network
  /// If the tensor is a constant: the weights from which it is computed, ascending.
  std::vector<std::uint32_t> weights;
  std::optional<Numbers> numbers;  ///< its elements, if they are known and few
};

struct Graph {
  std::string name;
  std::int64_t opset = 0;      ///< version of ONNX's own operators
  std::int64_t batch = 1;      ///< samples in the inputs
  std::size_t batch_axis = 0;  ///< the axis of the batch in an input
  std::vector<Node> nodes;     ///< each comes after the nodes whose outputs it reads
  std::vector<std::string> inputs, outputs;
  std::vector<Weight> weights;  ///< weights with floating-point elements
  std::unordered_map<std::string, Tensor> tensors;
  std::shared_ptr<const Source> listing;

  const Tensor* find(const std::string& tensor) const;
  /// Returns whether the tensor holds data of samples: it is neither constant nor a list of known numbers.
  bool is_data(const std::string& tensor) const;
  /// Returns the numbers of a node's input; null if they are not known.
  const Numbers* numbers(const Node& node, std::size_t input) const;

  [[noreturn]] void fail(const Node& node, const std::string& message) const;
  [[noreturn]] void fail(const std::string& message) const;
};

/// Reads a graph and infers all shapes that can be inferred. `keys` holds the batch, `shapes`, and
/// the values of symbolic dimensions.
Graph read_graph(std::string_view bytes, const std::string& path, const Reader& keys);

/// Evaluates a node. Returns the elements of each of its outputs, or nothing if the elements of the inputs are not
/// known, or if the node is not one of the operators that compute shapes. `outputs` holds what is known about the
/// outputs except their elements.
std::vector<Numbers> fold(const Graph& graph, const Node& node, const std::vector<Tensor>& outputs);

/// Returns a name that a document may contain: UTF-8 without control characters, and not too long.
std::string clean(const std::string& name);

}  // namespace sluice::onnx_import
