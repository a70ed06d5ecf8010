// The rules for products of matrices.
#include <algorithm>

#include "base/quantity.hpp"
#include "model/layers/shape.hpp"
#include "model/onnx/einsum.hpp"
#include "model/onnx/rules.hpp"

namespace sluice::onnx_import {
namespace {

/// Sets the layer type of a product of a sample's rows with weights [columns, features]. The type is `dense` for a
/// sample with one axis, and `matmul` for a sample with two axes. For more axes, the type stays empty, and the layer
/// becomes an `operator` with the same counts.
void set_type(const Drafting& at, Draft& draft, std::int64_t features, bool bias) {
  draft.weights = {1, 2};
  const std::size_t axes = at.sample(at.node.inputs[0]).shape.size();
  if (axes > 2) return;
  draft.type = axes == 1 ? "dense" : "matmul";
  draft.set("features", Value::make(features));
  if (bias != (draft.type == "dense")) draft.set("bias", Value::make(bias));
}

/// Returns whether both inputs have equally many matrices per sample, so that no input is stretched, and whether the
/// inner extents of these matrices are equal.
bool is_alike(const Drafting& at) {
  const Shape a = at.sample(at.node.inputs[0]).shape, b = at.sample(at.node.inputs[1]).shape;
  return a.size() == b.size() && a.size() > 1 && std::equal(a.begin(), a.end() - 2, b.begin()) &&
         a.back() == b[b.size() - 2];
}

}  // namespace

Draft gemm(const Drafting& at) {
  const Shape &a = at.shape(0), &b = at.shape(1);
  if (a.size() != 2 || b.size() != 2) at.fail("expected matrices of two axes");
  const bool turned = at.node.integer("transA", 0) != 0;
  const std::size_t inner = at.node.integer("transB", 0) != 0 ? 1 : 0;
  const std::int64_t features = b[1 - inner];
  at.require(a[turned ? 0 : 1] == b[inner],
             "a product of " + text_of(a) + " and " + text_of(b) + ", whose inner extents differ");
  Draft draft;
  draft.macs = a[turned ? 0 : 1];
  draft.flop = at.node.has_input(2) ? 1 : 0;
  const bool bias = at.is_constant(2) && elements_of(at.shape(2)) == features;
  if (turned) draft.lacks = "a first matrix that is transposed";
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
    set_type(at, draft, b[1], /*bias=*/false);
  if (at.is_data(0) && at.is_data(1) && is_alike(at)) draft.type = "batched_matmul";
  return draft;
}

namespace {

/// Sets the draft's type to `batched_matmul` if the equation multiplies pairs of matrices, [rows, inner] by [inner,
/// columns]. The product of all other extents is the number of pairs. Both inputs and the output must have all these
/// other axes. The second matrix of a pair may be transposed. For other equations, `draft` stays as it is.
void set_matrices(const Drafting& at, Draft& draft, const Einsum& sum) {
  const Labels &a = sum.inputs[0], &b = sum.inputs[1], &out = sum.output;
  const std::size_t rank = out.size();
  if (rank < 3 || a.size() != rank || b.size() != rank) return;
  const int row = out[rank - 2], column = out[rank - 1], inner = a[rank - 1];
  const auto is = [&](const Labels& labels, int last_but_one, int last) {
    return std::equal(labels.begin(), labels.end() - 2, out.begin()) &&
           labels[rank - 2] == last_but_one && labels[rank - 1] == last;
  };
  const Shape &left = at.shape(0), &right = at.shape(1);
  const bool turned = is(b, column, inner);
  if (inner == row || inner == column || !is(a, row, inner)) return;
  if (!turned && !is(b, inner, column)) return;
  // If the extents differ, ONNX stretches an input. `batched_matmul` does not stretch its inputs.
  if (!std::equal(left.begin(), left.end() - 2, right.begin())) return;
  if (left[rank - 1] != right[turned ? rank - 1 : rank - 2]) return;
  draft.type = "batched_matmul";
  if (turned) draft.set("transpose_b", Value::make(true));
}

}  // namespace

// An element of the output is a sum of products. Each product has as many factors as the node has inputs.
Draft einsum(const Drafting& at) {
  std::vector<Shape> shapes;
  bool all = true;
  for (std::size_t i = 0; i < at.node.inputs.size(); ++i) {
    shapes.push_back(at.shape(i));
    all = all && at.is_data(i);
  }
  const Einsum sum = einsum_of(at.node.text("equation", ""), shapes);
  const std::int64_t summed = sum.summed();
  const auto factors = static_cast<std::int64_t>(shapes.size());
  Draft draft;
  draft.keeps = factors > 1 ? "inputs" : "nothing";
  if (factors == 1) draft.input_flop = summed > 1 ? 1 : 0;
  if (factors > 1 && summed == 1) draft.flop = factors - 1;
  if (factors > 1 && summed > 1)
    draft.macs = checked_mul(summed, factors - 1, "multiply-accumulates");
  if (factors == 2 && all) set_matrices(at, draft, sum);
  return draft;
}

// The axes of the two weights are [directions, gates x hidden, features] and [directions, gates x hidden, hidden]. The
// axes of the input are [steps, samples, features], or [samples, steps, features] with the attribute `layout`.
Draft recurrent(const Drafting& at) {
  const Shape &input = at.shape(0), &recurrence = at.shape(2);
  if (input.size() != 3 || recurrence.size() != 3) at.fail("expected tensors of three axes");
  const std::int64_t hidden = recurrence[2], directions = recurrence[0];
  const std::int64_t steps = input[at.node.integer("layout", 0) != 0 ? 1 : 0];
  const std::int64_t features = input[2];
  const bool bias = at.node.has_input(3);
  const std::int64_t rows = checked_mul(at.rule.flop, hidden, "parameters");
  at.require(at.shape(1) == Shape{directions, rows, features} && recurrence[1] == rows,
             "an input of " + text_of(input) + ", weights of " + text_of(at.shape(1)) + " and " +
                 text_of(recurrence) + ": expected " + text_of({directions, rows, features}) +
                 " and " + text_of({directions, rows, hidden}));
  if (bias)
    at.require_elements(3,
                        checked_mul(checked_mul(rows, 2, "parameters"), directions, "parameters"),
                        "rows, of both matrices");
  const std::int64_t sequence = checked_mul(steps, features, "elements");
  const std::int64_t elements = elements_of(at.sample(at.node.inputs[0]).shape);
  at.require(sequence > 0 && elements % sequence == 0,
             "a batch of " + std::to_string(at.graph.batch) +
                 " does not leave whole sequences of " + std::to_string(steps) + " steps in " +
                 text_of(input) +
                 "; use batch=1 to count the whole input as one sample, or export the model with " +
                 "the symbolic dimension 'batch' as the axis of the sequences");
  Draft draft;
  draft.reads = {0};
  draft.weights = {1, 2, 3};
  draft.macs = checked_mul(at.rule.flop, checked_add(features, hidden, "parameters"), "parameters");
  if (at.node.has_input(7)) draft.lacks = "peepholes";
  if (!at.is_constant(1) || !at.is_constant(2) || (bias && !at.is_constant(3)))
    draft.lacks = "weights that are computed";
  if (!draft.lacks.empty()) return draft;
  draft.type = at.rule.word;
  draft.takes = {steps, features};
  draft.makes = {steps, checked_mul(hidden, directions, "elements")};
  if (const std::int64_t sequences = elements / sequence; sequences > 1)
    for (Shape* shape : {&draft.takes, &draft.makes}) shape->insert(shape->begin() + 1, sequences);
  draft.set("hidden", Value::make(hidden));
  if (directions == 2) draft.set("bidirectional", Value::make(true));
  if (!bias) draft.set("bias", Value::make(false));
  return draft;
}

}  // namespace sluice::onnx_import
