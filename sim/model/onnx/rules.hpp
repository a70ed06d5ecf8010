// The rules by which ONNX operators become layers. A rule names a layer type, or gives the cost of each element of
// the output. Each kind of operator has a function in a file ops_*.cpp. The table in rules.cpp lists the operators
// with their kinds. To add an operator of a known kind, add a line to this table. The operators follow the ONNX
// operator schemas, version 1.12.
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

/// The effect of an operator on the axes of its input.
enum class Axes {
  kept,    ///< the axes keep their meaning
  image,   ///< the axes keep their meaning, and the second axis is the channels
  changed  ///< the meaning of the axes changes
};

/// A draft of a layer. The layer gets the type `type` if the layer catalog and ONNX compute the same shape.
/// Otherwise, it becomes an `operator` with the costs below.
struct Draft {
  std::string type = {};  ///< a type of the layer catalog, or empty for `operator`
  /// The property of the operator that no layer type has. A note to the user names this property.
  std::string lacks = {};
  std::vector<std::pair<std::string, Value>> keys = {};
  bool with_shape = false;  ///< whether the type has a key `shape`
  /// The shapes of the layer type's input and output, if these differ from the shapes of the tensors. In this case,
  /// views are added before and after the layer.
  Shape takes = {}, makes = {};
  /// The inputs of the node that the layer reads. If the list is empty, the layer reads all inputs that are data.
  std::vector<std::size_t> reads = {};
  std::vector<std::size_t> weights = {};  ///< inputs that are parameters of the layer type
  /// Inputs that are statistics, which are not parameters.
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
  /// Whether the operator stretches its inputs to one shape and works element by element.
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
  /// A layer type, or a value of the key `keeps`, which names the tensors that the gradient reads.
  const char* word = "";
};

/// Returns the rule for a node's operator, or null if there is no rule.
const OpRule* rule_of(const Node& node);

/// A node that is about to become a layer, with everything that its draft needs. All functions throw InputError if
/// the node lacks the requested input or property.
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
  /// Returns the number of ONNX's axis `axis` in the layer, or nothing if `axis` is the axis of the batch.
  std::optional<std::int64_t> axis(const std::string& tensor, std::int64_t axis) const;
  /// Returns whether the shape of `tensor` without its first axis is the shape of a sample. The axes after the first
  /// axis then have the same meaning in the layer as in ONNX.
  bool is_batched(const std::string& tensor) const;
  void require(bool condition, const std::string& message) const;
  /// Throws an error unless an input has `count` elements, one for each of `what`. A missing input is not an error.
  void require_elements(std::size_t input, std::int64_t count, const char* what) const;
  [[noreturn]] void fail(const std::string& message) const;
};

/// Returns the shape of an output, with the batch. Throws InputError if the shape is not known.
const Shape& known_shape(const Graph& graph, const Node& node, const std::string& tensor);

// There is one function per kind of operator.
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
/// Sums and products, which become the layer type `rule.word`.
Draft joined(const Drafting& at);
Draft quotient(const Drafting& at);
Draft chosen(const Drafting& at);
Draft quantised(const Drafting& at);
Draft clip(const Drafting& at);
Draft reduction(const Drafting& at);  ///< operators that take `rule.flop` per element of the input
Draft dropout(const Drafting& at);
Draft top_k(const Drafting& at);

Draft moved(const Drafting& at);  ///< operators that move elements and compute nothing
/// Operators that may repeat elements. If the shape does not change, the output is an alias of the input.
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
