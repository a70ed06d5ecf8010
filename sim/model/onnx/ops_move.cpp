// Operators that move elements, repeat them, drop them, or only look at them otherwise.
#include "model/onnx/layout.hpp"
#include "model/onnx/rules.hpp"

namespace sluice::onnx_import {

Draft moved(const Drafting&) {
  return {};
}

// An output is a mean of its neighbours, weighted by constants: along an axis 2 of them, linear, or
// 4, cubic. Over two axes 4 products and 3 additions, or 16 and 15.
Draft resized(const Drafting& at) {
  Draft draft;
  draft.reads = {0};
  const std::string mode = at.node.text("mode", "nearest");
  if (mode == "linear") draft.flop = 7;
  if (mode == "cubic") draft.flop = 31;
  draft.keeps = "nothing";
  return draft;
}

Draft reshaped(const Drafting& at) {
  Draft draft;
  draft.reads = {0};
  draft.type = at.node.op == "Flatten" ? "flatten" : "reshape";
  draft.with_shape = draft.type == "reshape";
  return draft;
}

Draft alias(const Drafting&) {
  Draft draft;
  draft.is_alias = true;
  return draft;
}

// The catalog counts axes in its own way; the one that grows is the one that is meant.
Draft concat(const Drafting& at) {
  Draft draft;
  for (std::size_t i = 0; i < at.node.inputs.size(); ++i)
    if (!at.is_data(i)) return draft;
  if (at.node.inputs.size() < 2) return draft;
  draft.type = "concat";
  return draft;
}

Draft gather(const Drafting& at) {
  Draft draft;
  if (!at.is_constant(0) || !at.is_data(1)) return draft;
  const Shape& table = at.shape(0);
  if (table.size() != 2 || at.node.integer("axis", 0) != 0 || at.sample_rank(1) != 1) return draft;
  draft.type = "embedding";
  draft.reads = {1};
  draft.weights = {0};
  draft.set("entries", Value::make(table[0]));
  draft.set("features", Value::make(table[1]));
  return draft;
}

}  // namespace sluice::onnx_import
