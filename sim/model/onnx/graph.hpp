// The graph of an ONNX model as plain data, with everything that the converter needs. The types of ONNX and protobuf do
// not appear here: files that use these types include proto.hpp. Shapes are as in ONNX: a shape includes the batch, and
// the channels come before the other axes of an image. All functions may throw InputError. The position of an error is
// a line of `listing`, which has one line per node.
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
  std::optional<double> number;  ///< a number, or the value of a tensor with one element
  std::string text;
  std::vector<std::int64_t> integers;
};

struct Node {
  int line = 0;  ///< the line of the node in the listing
  std::string name, op;
  bool known = true;        ///< whether the operator is one of ONNX's own operators
  bool has_graphs = false;  ///< whether the node contains the bodies of a condition or a loop
  /// Names of tensors. If an optional tensor is left out, its name is "".
  std::vector<std::string> inputs, outputs;
  std::map<std::string, Attribute> attributes;
  /// The reason why the shapes of the node could not be inferred. The text is empty if the shapes were inferred.
  std::string fault;

  bool has_input(std::size_t index) const;
  std::int64_t integer(const std::string& attribute, std::int64_t absent) const;
  double number(const std::string& attribute, double absent) const;
  std::string text(const std::string& attribute, const std::string& absent) const;
  /// Returns the attribute's list of integers. Returns an empty list if the attribute is absent.
  const std::vector<std::int64_t>& integers(const std::string& attribute) const;
};

/// A constant of the model: an initialiser of the file, or the output of a node without inputs.
struct Weight {
  std::int64_t elements = 0;
  bool initialiser = false;
  bool vector = false;  ///< whether the weight has one axis, like a bias or a scale
  /// Whether the weight has integer elements. The operator DequantizeLinear turns them into floating-point numbers.
  bool quantised = false;
  /// Whether the weight is a scale: a vector that one node makes and another node reshapes to [channels, 1, 1].
  bool scale = false;

  /// Returns whether the weight counts as learned. This matters for operators that do not say which of their inputs are
  /// weights. A learned weight has several elements, and is stored in the file or is a scale that a node makes.
  bool learned() const { return (initialiser || scale) && elements > 1; }
};

/// The elements of a small constant, such as a shape, a list of axes, or a scale.
using Numbers = std::vector<double>;
inline constexpr std::int64_t most_numbers = 4096;

struct Tensor {
  std::optional<Shape> shape;  ///< the shape, or empty if it is not known
  bool integral = false;       ///< whether the element type of the tensor is an integer type
  bool floating = false;
  bool constant = false;  ///< whether the tensor is independent of the inputs of the network
  /// If the tensor is constant: the indices of the weights from which it is computed, in ascending order.
  std::vector<std::uint32_t> weights;
  /// The elements, if they are known and their number is at most `most_numbers`.
  std::optional<Numbers> numbers;
};

struct Graph {
  std::string name;
  std::int64_t opset = 0;      ///< version of ONNX's own operators
  std::int64_t batch = 1;      ///< the number of samples in the inputs
  std::size_t batch_axis = 0;  ///< the axis of the batch in an input
  std::vector<Node> nodes;     ///< each node comes after the nodes whose outputs it reads
  std::vector<std::string> inputs, outputs;
  std::vector<Weight> weights;  ///< weights with floating-point elements
  std::unordered_map<std::string, Tensor> tensors;
  std::shared_ptr<const Source> listing;

  const Tensor* find(const std::string& tensor) const;
  /// Returns whether the tensor holds data that depend on the samples. Constants and tensors with known numbers do not
  /// hold such data.
  bool is_data(const std::string& tensor) const;
  /// Returns the elements of a node's input, or null if the elements are not known.
  const Numbers* numbers(const Node& node, std::size_t input) const;

  [[noreturn]] void fail(const Node& node, const std::string& message) const;
  [[noreturn]] void fail(const std::string& message) const;
};

/// Reads a graph from the bytes of a file, and infers all shapes that can be inferred. `keys` are the keys of the
/// scenario's `model:` for the importer: `batch`, `shapes`, and the extents of symbolic dimensions.
Graph read_graph(std::string_view bytes, const std::string& path, const Reader& keys);

/// Evaluates a node: returns the elements of each of its outputs. Returns an empty list if the elements of the inputs
/// are not known, or if the operator is not one that exporters use to compute shapes. `outputs` says what else is known
/// about the outputs, such as their shapes.
std::vector<Numbers> fold(const Graph& graph, const Node& node, const std::vector<Tensor>& outputs);

/// Returns the name as a document may contain it: in UTF-8, without control characters, and not too long.
std::string clean(const std::string& name);

}  // namespace sluice::onnx_import
