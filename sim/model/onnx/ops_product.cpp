// Products of matrices.
#include "base/quantity.hpp"
#include "model/onnx/rules.hpp"

namespace sluice::onnx_import {
namespace {

std::int64_t elements_of(const Shape& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements = checked_mul(elements, extent, "elements");
  return elements;
}

/// A product of the rows of a sample with weights [rows, features]; `dense` where there is one row.
void set_type(const Drafting& at, Draft& draft, std::int64_t features, bool bias) {
  draft.type = at.sample(at.node.inputs[0]).shape.size() == 1 ? "dense" : "matmul";
  draft.weights = {1, 2};
  draft.set("features", Value::make(features));
  if (bias != (draft.type == "dense")) draft.set("bias", Value::make(bias));
}

}  // namespace

Draft gemm(const Drafting& at) {
  const Shape &a = at.shape(0), &b = at.shape(1);
  if (a.size() != 2 || b.size() != 2) at.fail("expected matrices of two axes");
  const bool turned = at.node.integer("transA", 0) != 0;
  const std::int64_t features = b[at.node.integer("transB", 0) != 0 ? 0 : 1];
  Draft draft;
  draft.macs = a[turned ? 0 : 1];
  draft.flop = at.node.has_input(2) ? 1 : 0;
  const bool bias = at.is_constant(2) && elements_of(at.shape(2)) == features;
  if (turned || !at.is_data(0) || !at.is_constant(1) || (at.node.has_input(2) && !bias))
    return draft;
  set_type(at, draft, features, bias);
  return draft;
}

Draft matmul(const Drafting& at) {
  const Shape &a = at.shape(0), &b = at.shape(1);
  if (a.empty() || b.empty()) at.fail("expected a matrix or a vector, got a number");
  Draft draft;
  draft.macs = a.back();
  if (at.is_data(0) && at.is_constant(1) && b.size() == 2 && a.size() > 1)
    set_type(at, draft, b[1], false);
  if (at.is_data(0) && at.is_data(1)) draft.type = "batched_matmul";
  return draft;
}

// Weights [directions, gates x hidden, .], sequences [steps, samples, features].
Draft recurrent(const Drafting& at) {
  const Shape &input = at.shape(0), &recurrence = at.shape(2);
  if (input.size() != 3 || recurrence.size() != 3) at.fail("expected tensors of three axes");
  const std::int64_t hidden = recurrence[2], directions = recurrence[0];
  const std::int64_t steps = input[at.node.integer("layout", 0) != 0 ? 1 : 0];
  const std::int64_t features = input[2];
  const bool bias = at.node.has_input(3);
  Draft draft;
  draft.reads = {0};
  draft.weights = {1, 2, 3};
  draft.macs = checked_mul(at.rule.flop, checked_add(features, hidden, "parameters"), "parameters");
  const bool peepholes = at.node.has_input(7);
  if (!at.is_constant(1) || !at.is_constant(2) || (bias && !at.is_constant(3)) || peepholes)
    return draft;
  draft.type = at.rule.word;
  draft.takes = {steps, features};
  draft.makes = {steps, checked_mul(hidden, directions, "elements")};
  draft.set("hidden", Value::make(hidden));
  if (directions == 2) draft.set("bidirectional", Value::make(true));
  if (!bias) draft.set("bias", Value::make(false));
  return draft;
}

}  // namespace sluice::onnx_import
