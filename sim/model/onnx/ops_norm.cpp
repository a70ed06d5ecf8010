// The rules for normalisations.
#include <algorithm>

#include "model/onnx/rules.hpp"

namespace sluice::onnx_import {

Draft batch_norm(const Drafting& at) {
  Draft draft;
  draft.flop = 2;
  draft.statistics = {3, 4};
  const Shape& shape = at.shape(0);
  at.require(!shape.empty(), "expected an input with an axis of channels, got a single number");
  for (const std::size_t input : {1, 2, 3, 4})
    at.require_elements(input, shape.size() > 1 ? shape[1] : 1, "channels");
  if (!at.is_constant(1) || !at.is_constant(2)) return draft;
  draft.type = "batch_norm";
  draft.weights = {1, 2};
  return draft;
}

Draft layer_norm(const Drafting& at) {
  Draft draft;
  draft.flop = at.node.has_input(2) ? 7 : 6;
  const auto rank = static_cast<std::int64_t>(at.shape(0).size());
  const std::int64_t axis = at.node.integer("axis", -1);
  if ((axis != -1 && axis != rank - 1) || !at.is_constant(1) || !at.is_constant(2)) return draft;
  draft.type = "layer_norm";
  draft.weights = {1, 2};
  return draft;
}

namespace {

/// Returns whether an input is a constant that is not learned and whose elements are all `number`. Some operators
/// require a scale and a shift. If the network has no scale and shift, exporters write a scale of 1 and a shift of 0.
bool is_written(const Drafting& at, std::size_t input, double number) {
  const Numbers* numbers = at.graph.numbers(at.node, input);
  return numbers && !at.is_learned(input) &&
         std::all_of(numbers->begin(), numbers->end(), [&](double each) { return each == number; });
}

Draft of_groups(const Drafting& at, std::int64_t groups) {
  Draft draft;
  draft.flop = 7;
  if (!at.is_constant(1) || !at.is_constant(2)) return draft;
  draft.type = "group_norm";
  draft.set("groups", Value::make(groups));
  if (is_written(at, 1, 1) && is_written(at, 2, 0)) {
    draft.set("affine", Value::make(false));
    return draft;
  }
  draft.weights = {1, 2};
  return draft;
}

}  // namespace

Draft instance_norm(const Drafting& at) {
  const Shape& shape = at.shape(0);
  if (shape.size() < 2) at.fail("expected channels as the second axis");
  for (const std::size_t input : {1, 2}) at.require_elements(input, shape[1], "channels");
  return of_groups(at, shape[1]);
}

Draft group_norm(const Drafting& at) {
  return of_groups(at, at.node.integer("num_groups", 1));
}

Draft lrn(const Drafting& at) {
  Draft draft;
  draft.type = "lrn";
  draft.set("size", Value::make(at.node.integer("size", 1)));
  return draft;
}

}  // namespace sluice::onnx_import
