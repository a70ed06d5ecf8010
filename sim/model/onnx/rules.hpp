// The rules by which ONNX operators become layers. A rule names a layer type, or gives the cost of each element of
// the output. Similar operators share a function in one of the files ops_*.cpp. The table in rules.cpp lists the
// operators with their functions. To add an operator for which a function exists, add a line to this table. The
// operators follow the ONNX operator schemas, version 1.12.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/onnx/graph.hpp"
#include "model/onnx/layout.hpp"

namespace sluice::onnx_import {

/// What an operator does with the meaning of the axes.
enum class Axes {
  kept,    ///< the axes keep their meaning
  image,   ///< the axes keep their meaning, and the second axis is the channels
  changed  ///< the meaning of the axes changes
};

/// A draft of a layer. The layer gets the type `type` if this layer type and ONNX compute the same shape for the
/// output. Otherwise, the layer becomes an `operator` with the costs that the draft gives.
struct Draft {
  std::string type = {};  ///< a type of the layer catalog, or empty for `operator`
  /// A property of the node that no layer type has. The layer then becomes an `operator`, and a note to the user names
  /// the property.
  std::string lacks = {};
  std::vector<std::pair<std::string, Value>> keys = {};
  bool with_shape = false;  ///< whether the type has a key `shape`
  /// The shapes of the layer's input and output, if the layer type needs other shapes than those of the tensors. Then
  /// there are views before and after the layer. Empty lists mean the shapes of the tensors.
  Shape takes = {}, makes = {};
  /// The inputs of the node that the layer reads. If the list is empty, the layer reads all inputs that are data.
  std::vector<std::size_t> reads = {};
  std::vector<std::size_t> weights = {};  ///< inputs that are parameters of the layer type
  /// Inputs that are running means or variances, which are not parameters.
  std::vector<std::size_t> statistics = {};
  std::int64_t macs = 0;        ///< multiply-accumulates per element of the output
  std::int64_t flop = 0;        ///< FLOP per element of the output, without multiply-accumulates
  std::int64_t input_macs = 0;  ///< multiply-accumulates per element of the first input
  /// FLOP per element of the first input, without multiply-accumulates.
  std::int64_t input_flop = 0;
  std::string keeps = {};       ///< the key `keeps` of `operator`, or empty for its default
  std::int64_t kept_bytes = 0;  ///< the key `kept_bytes` of `operator`, per sample
  /// The key `same_place` of `operator`: whether an output pixel depends on only one input pixel.
  bool same_place = false;
  bool learns = true;     ///< whether the constants that the layer reads are parameters
  bool is_alias = false;  ///< whether the output is the same tensor as the input
  /// Whether the operator works element by element, on inputs that it stretches to one shape.
  bool each = false;
  bool each_output = false;  ///< whether each output has its own draft

  void set(const char* key, Value value) { keys.emplace_back(key, std::move(value)); }
};

struct Drafting;

struct OpRule {
  const char* op;
  Axes axes;
  Draft (*draft)(const Drafting& at);
  int flop = 0;  ///< FLOP per element, or the number of gates of a recurrent operator
  /// A layer type, or a value of the key `keeps`: the tensors that the backward pass reads.
  const char* word = "";
};

/// Returns the rule for a node's operator, or null if there is no rule.
const OpRule* rule_of(const Node& node);

/// A node that is to become a layer, with everything that a function needs to make the layer's draft. shape(),
/// sample(), axis() and is_batched() throw InputError if the shape of the tensor is not known. shape() also throws
/// InputError if the node lacks the input.
struct Drafting {
  const Graph& graph;
  const Node& node;
  const OpRule& rule;
  const std::unordered_set<std::string>& images;
  std::size_t output = 0;  ///< the number of the output for which the draft is made

  bool is_data(std::size_t input) const;
  bool is_constant(std::size_t input) const;
  bool is_learned(std::size_t input) const;     ///< whether the input is made of learned weights
  const Shape& shape(std::size_t input) const;  ///< the shape of the input with the batch
  Sample sample(const std::string& tensor) const;
  /// Returns the number that ONNX's axis `axis` has in the layer. Returns nothing if the layer has no such axis, for
  /// example because `axis` is the axis of the batch.
  std::optional<std::int64_t> axis(const std::string& tensor, std::int64_t axis) const;
  /// Returns whether a sample has all axes of `tensor` except the first axis. If so, these axes have the same meaning
  /// in the layer as in ONNX.
  bool is_batched(const std::string& tensor) const;
  void require(bool condition, const std::string& message) const;
  /// Throws an error unless an input has `count` elements. `what` is a word for the message, such as "channels" if each
  /// channel has one element. A missing input is not an error.
  void require_elements(std::size_t input, std::int64_t count, const char* what) const;
  [[noreturn]] void fail(const std::string& message) const;
};

/// Returns the shape of a tensor, with the batch. Throws InputError if the shape is not known.
const Shape& known_shape(const Graph& graph, const Node& node, const std::string& tensor);

// Each of these functions makes the drafts for one or several operators.
Draft convolution(const Drafting& at);
Draft transposed_convolution(const Drafting& at);
Draft pool(const Drafting& at);
Draft global_pool(const Drafting& at);

Draft gemm(const Drafting& at);
Draft matmul(const Drafting& at);
Draft einsum(const Drafting& at);

Draft batch_norm(const Drafting& at);
Draft layer_norm(const Drafting& at);
Draft instance_norm(const Drafting& at);
Draft group_norm(const Drafting& at);
Draft lrn(const Drafting& at);

Draft as_type(const Drafting& at);      ///< operators that become the layer type `rule.word`
Draft elementwise(const Drafting& at);  ///< operators that take `rule.flop` per element
/// Sums and products, which become layers of the type `rule.word`.
Draft joined(const Drafting& at);
Draft quotient(const Drafting& at);
Draft chosen(const Drafting& at);
Draft quantised(const Drafting& at);
Draft clip(const Drafting& at);
Draft reduction(const Drafting& at);  ///< operators that take `rule.flop` per element of the input
Draft dropout(const Drafting& at);
Draft top_k(const Drafting& at);

Draft moved(const Drafting& at);  ///< operators that move elements and compute nothing
/// Operators that may repeat elements. If the output has the same shape as the input, it is an alias of the input.
Draft enlarged(const Drafting& at);
Draft resized(const Drafting& at);
Draft reshaped(const Drafting& at);
Draft alias(const Drafting& at);
Draft concat(const Drafting& at);
Draft gather(const Drafting& at);
Draft transposed(const Drafting& at);
Draft split(const Drafting& at);
Draft slice(const Drafting& at);

Draft recurrent(const Drafting& at);  ///< operators that become `rule.word` with `rule.flop` gates

}  // namespace sluice::onnx_import
