// The rules for functions that work element by element, and for reductions of many elements to one.
#include <algorithm>

#include "base/quantity.hpp"
#include "model/layers/shape.hpp"
#include "model/onnx/rules.hpp"

namespace sluice::onnx_import {

Draft as_type(const Drafting& at) {
  return {.type = at.rule.word};
}

Draft elementwise(const Drafting& at) {
  return {.flop = at.rule.flop, .keeps = at.rule.word, .each = true};
}

// The backward pass of a product computes a gradient for each factor, and reads all other factors for it. But a
// constant that is not learned has no gradient. So the backward pass reads nothing if all factors except one are such
// constants.
Draft joined(const Drafting& at) {
  const std::size_t count = at.node.inputs.size();
  std::size_t data = 0, learned = 0;
  for (std::size_t i = 0; i < count; ++i) {
    data += at.is_data(i) ? 1 : 0;
    learned += at.is_learned(i) ? 1 : 0;
  }
  const bool product = at.rule.word == std::string("mul");
  return {.type = data == count && count > 1 ? at.rule.word : "",
          .flop = count > 0 ? static_cast<std::int64_t>(count) - 1 : 0,
          .keeps = product && data + learned > 1 ? "inputs" : "nothing",
          .each = true};
}

// The gradient of one operand depends on the other operand, as in a product. If c is a constant that is not learned,
// the backward pass of x / c reads nothing.
Draft quotient(const Drafting& at) {
  Draft draft = elementwise(at);
  draft.keeps = at.is_data(1) || at.is_learned(1) ? "inputs" : "nothing";
  return draft;
}

// The operator chooses each element from one of two inputs, by a condition. In the backward pass, the element's
// gradient goes to this input. So the backward pass reads only the condition, with 1 byte per element.
Draft chosen(const Drafting& at) {
  Draft draft = elementwise(at);
  if (at.is_data(0)) draft.kept_bytes = elements_of(at.sample(at.node.inputs[0]).shape);
  return draft;
}

// All inputs except the first are scales and zero points, which are not learned.
Draft quantised(const Drafting& at) {
  Draft draft = elementwise(at);
  draft.reads = {0};
  draft.learns = false;
  return draft;
}

Draft clip(const Drafting& at) {
  const auto bound = [&](std::size_t input, const char* attribute, double absent) {
    const Numbers* numbers = at.graph.numbers(at.node, input);
    return numbers && numbers->size() == 1 ? numbers->front() : at.node.number(attribute, absent);
  };
  const bool is_relu6 = bound(1, "min", -1) == 0 && bound(2, "max", -1) == 6;
  return {.type = is_relu6 ? "relu6" : "", .reads = {0}, .flop = 2, .each = true};
}

Draft reduction(const Drafting& at) {
  return {.reads = {0}, .input_flop = at.rule.flop, .keeps = at.rule.word};
}

// For each of the k largest values, the operator compares all elements once. The positions of these values are kept,
// with 8 bytes each.
Draft top_k(const Drafting& at) {
  const Shape &from = at.shape(0), &to = known_shape(at.graph, at.node, at.node.outputs.front());
  const std::int64_t axis = at.node.integer("axis", -1);
  const auto rank = static_cast<std::int64_t>(from.size());
  at.require(to.size() == from.size() && axis >= -rank && axis < rank,
             "expected an axis of its input");
  const auto index = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  const std::string &input = at.node.inputs[0], &output = at.node.outputs.front();
  Draft draft = {.reads = {0},
                 .input_flop = to[index],
                 .keeps = "nothing",
                 .kept_bytes = checked_mul(elements_of(at.sample(output).shape), 8, "kept bytes")};
  if (at.sample(input).shape.size() != 2 || at.axis(input, axis) != std::optional<std::int64_t>(1))
    return draft;
  draft.type = "top_k";
  draft.set("k", Value::make(to[index]));
  return draft;
}

Draft dropout(const Drafting& at) {
  Draft draft = {.type = "dropout", .reads = {0}};
  const Numbers* given = at.graph.numbers(at.node, 1);
  const double rate = given && given->size() == 1 ? given->front() : at.node.number("ratio", 0.5);
  if (rate != 0.5) draft.set("rate", Value::make(rate));
  return draft;
}

}  // namespace sluice::onnx_import
