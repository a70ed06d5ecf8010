// What becomes of each ONNX operator: the layer type it is, or what each element of its output
// costs. Operators are of a few kinds; a kind is a function in a file ops_*.cpp, and the table in
// rules.cpp names the operators of each: a new operator is one line there.
// Source: ONNX operator schemas, version 1.12.
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

/// What an operator makes of the axes of its input.
enum class Axes {
  kept,    ///< they mean what they meant
  image,   ///< likewise, and the second one is the channels
  changed  ///< something else
};

/// A layer to be. `type` is taken where the catalog's rules lead to the shape that ONNX's do, and
/// else `operator`, with the costs below.
struct Draft {
  std::string type = {};   ///< of the layer catalog; empty: operator
  std::string lacks = {};  ///< what no layer type has, where one would be due; a note says so
  std::vector<std::pair<std::string, Value>> keys = {};
  bool with_shape = false;  ///< the type has a key `shape`
  /// Shapes that the type takes and makes where they are not those of the tensors: views go
  /// between.
  Shape takes = {}, makes = {};
  /// Inputs of the node that the layer reads, of those that are data; empty: all.
  std::vector<std::size_t> reads = {};
  std::vector<std::size_t> weights = {};     ///< inputs whose elements the type counts
  std::vector<std::size_t> statistics = {};  ///< inputs that are no parameters
  std::int64_t macs = 0;                     ///< an element of the output
  std::int64_t flop = 0;                     ///< an element of the output, beside those
  std::int64_t input_macs = 0;               ///< an element of the first input
  std::int64_t input_flop = 0;               ///< an element of the first input, beside those
  std::string keeps = {};                    ///< of `operator`; empty: by default
  std::int64_t kept_bytes = 0;               ///< of `operator`, a sample
  bool same_place = false;                   ///< of `operator`: a pixel sees one place alone
  bool learns = true;                        ///< constants that it reads are parameters
  bool is_alias = false;                     ///< the output is the input
  bool each = false;                         ///< element by element, the inputs stretched
  bool each_output = false;                  ///< every output has a draft of its own

  void set(const char* key, Value value) { keys.emplace_back(key, std::move(value)); }
};

struct Drafting;

struct OpRule {
  const char* op;
  Axes axes;
  Draft (*draft)(const Drafting& at);
  int flop = 0;           ///< what each element costs
  const char* word = "";  ///< a layer type, or what its gradient reads
};

/// The rule for a node's operator; null where there is none.
const OpRule* rule_of(const Node& node);

/// A node about to become a layer: what drafts are made from. All of it throws InputError where
/// the node has not what is asked for.
struct Drafting {
  const Graph& graph;
  const Node& node;
  const OpRule& rule;
  const std::unordered_set<std::string>& images;
  std::size_t output = 0;  ///< the draft is of this one

  bool is_data(std::size_t input) const;
  bool is_constant(std::size_t input) const;
  bool is_learned(std::size_t input) const;     ///< made of parameters
  const Shape& shape(std::size_t input) const;  ///< with the batch
  Sample sample(const std::string& tensor) const;
  /// The axis of `tensor`, as layers count, that is `axis` for ONNX; none where it is the batch.
  std::optional<std::int64_t> axis(const std::string& tensor, std::int64_t axis) const;
  /// Whether the shape of `tensor` without its first axis is a sample's: the others mean for the
  /// layer what they mean for ONNX.
  bool is_batched(const std::string& tensor) const;
  void require(bool condition, const std::string& message) const;
  /// An input, where there is one, has so many elements: one for each of `what`.
  void require_elements(std::size_t input, std::int64_t count, const char* what) const;
  [[noreturn]] void fail(const std::string& message) const;
};

/// The shape of an output, with the batch. Throws InputError where it is not known.
const Shape& known_shape(const Graph& graph, const Node& node, const std::string& tensor);

// The kinds.
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

Draft as_type(const Drafting& at);      ///< the layer type `rule.word`
Draft elementwise(const Drafting& at);  ///< `rule.flop` an element
Draft joined(const Drafting& at);       ///< sums and products; the layer type `rule.word`
Draft quotient(const Drafting& at);
Draft chosen(const Drafting& at);
Draft quantised(const Drafting& at);
Draft clip(const Drafting& at);
Draft reduction(const Drafting& at);  ///< `rule.flop` an element of the input
Draft dropout(const Drafting& at);
Draft top_k(const Drafting& at);

Draft moved(const Drafting& at);     ///< elements elsewhere: nothing is computed
Draft enlarged(const Drafting& at);  ///< likewise; where the shape stays, it is the input
Draft resized(const Drafting& at);
Draft reshaped(const Drafting& at);
Draft alias(const Drafting& at);
Draft concat(const Drafting& at);
Draft gather(const Drafting& at);
Draft transposed(const Drafting& at);
Draft split(const Drafting& at);
Draft slice(const Drafting& at);

Draft recurrent(const Drafting& at);  ///< `rule.flop` gates; the layer type `rule.word`

}  // namespace sluice::onnx_import
