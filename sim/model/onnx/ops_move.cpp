// The rules for operators that move, repeat or drop elements, and for operators that are views.
#include <algorithm>

#include "model/layers/shape.hpp"
#include "model/onnx/rules.hpp"

namespace sluice::onnx_import {

namespace {

/// Returns whether the first output has the same shape as the first input. If so, an operator that repeats or drops
/// elements changes nothing.
bool changes_nothing(const Drafting& at) {
  return at.is_data(0) && at.shape(0) == known_shape(at.graph, at.node, at.node.outputs.front());
}

}  // namespace

Draft moved(const Drafting&) {
  return {};
}

Draft enlarged(const Drafting& at) {
  return {.reads = {0}, .same_place = at.node.op == "Pad", .is_alias = changes_nothing(at)};
}

// In the mode `nearest`, each element of the output is a copy of one element of the input. In the other modes, it is a
// weighted mean of neighbouring elements. Images are resized along two axes. In the mode `linear`, the mean is taken
// over 2 x 2 neighbours, with 4 products and 3 additions. In the mode `cubic`, it is taken over 4 x 4 neighbours, with
// 16 products and 15 additions.
Draft resized(const Drafting& at) {
  const std::string mode = at.node.text("mode", "nearest");
  return {.reads = {0},
          .flop = mode == "linear"  ? 7
                  : mode == "cubic" ? 31
                                    : 0,
          .keeps = "nothing"};
}

Draft reshaped(const Drafting& at) {
  const Shape &from = at.shape(0), &to = known_shape(at.graph, at.node, at.node.outputs.front());
  at.require(elements_of(from) == elements_of(to),
             "the input " + text_of(from) + " has " + std::to_string(elements_of(from)) +
                 " elements, the output " + text_of(to) + " " + std::to_string(elements_of(to)));
  const bool flattened = at.node.op == "Flatten";
  return {.type = flattened ? "flatten" : "reshape", .with_shape = !flattened, .reads = {0}};
}

Draft alias(const Drafting&) {
  return {.is_alias = true};
}

namespace {

/// Sets the layer's key `axis`, unless the axis is the last axis, which is the default. Returns false if the axis is
/// the axis of the batch.
bool set_axis(const Drafting& at, Draft& draft, const std::string& tensor, std::int64_t axis) {
  const std::optional<std::int64_t> here = at.axis(tensor, axis);
  if (!here) return false;
  if (*here + 1 != static_cast<std::int64_t>(at.sample(tensor).shape.size()))
    draft.set("axis", Value::make(*here));
  return true;
}

}  // namespace

Draft concat(const Drafting& at) {
  Draft draft;
  for (std::size_t i = 0; i < at.node.inputs.size(); ++i)
    if (!at.is_data(i)) return draft;
  if (at.node.inputs.size() == 1) return alias(at);
  if (set_axis(at, draft, at.node.inputs[0], at.node.integer("axis", 0))) draft.type = "concat";
  return draft;
}

Draft split(const Drafting& at) {
  Draft draft = {.reads = {0}, .each_output = true};
  const std::int64_t axis = at.node.integer("axis", 0);
  if (!at.node.has_input(0) || !set_axis(at, draft, at.node.inputs[0], axis)) return draft;
  Value sizes = Value::make_list();
  for (const std::string& output : at.node.outputs) {
    const Shape& shape = known_shape(at.graph, at.node, output);
    const auto index =
        static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(shape.size()) : axis);
    if (index >= shape.size()) return draft;
    sizes.items().push_back(Value::make(shape[index]));
  }
  draft.type = "split";
  draft.set("sizes", std::move(sizes));
  draft.set("part", Value::make(static_cast<std::int64_t>(at.output)));
  return draft;
}

// A slice that keeps all elements needs no layer. Otherwise, a slice with a positive step along one axis, except the
// axis of the batch, becomes the layer `slice`. Every other slice becomes an operator that copies elements.
Draft slice(const Drafting& at) {
  const auto bound = [&](std::size_t input, const char* attribute) {
    const Numbers* numbers = at.graph.numbers(at.node, input);
    const auto& integers = at.node.integers(attribute);
    return numbers ? *numbers : Numbers(integers.begin(), integers.end());
  };
  Draft draft;
  draft.reads = {0};
  const Numbers begin = bound(1, "starts"), axes = bound(3, "axes"), step = bound(4, "steps");
  draft.is_alias = changes_nothing(at);
  if (begin.size() != 1 || axes.size() > 1 || step.size() > 1) return draft;
  const auto axis = static_cast<std::int64_t>(axes.empty() ? 0 : axes[0]);
  const Shape &from = at.shape(0), &to = known_shape(at.graph, at.node, at.node.outputs.front());
  const auto rank = static_cast<std::int64_t>(from.size());
  const auto index = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  const auto stride = static_cast<std::int64_t>(step.empty() ? 1 : step[0]);
  if (index >= from.size() || to.size() != from.size() || stride < 1 || to[index] < 1) return draft;
  const auto extent = static_cast<double>(from[index]);
  const double first = std::clamp(begin[0] < 0 ? begin[0] + extent : begin[0], 0.0, extent);
  if (!set_axis(at, draft, at.node.inputs[0], axis)) return draft;
  draft.type = "slice";
  const auto at_first = static_cast<std::int64_t>(first);
  if (at_first > 0) draft.set("begin", Value::make(at_first));
  if (stride > 1) draft.set("step", Value::make(stride));
  const std::int64_t end = at_first + (to[index] - 1) * stride + 1;
  if (end < from[index]) draft.set("end", Value::make(end));
  return draft;
}

// If only the axis of the batch moves, the elements of a sample stay in their order. Then the layer is a `reshape`.
Draft transposed(const Drafting& at) {
  Draft draft = {.type = "reshape", .with_shape = true};
  const std::vector<std::size_t> from = at.sample(at.node.inputs.front()).axes;
  const std::vector<std::size_t> to = at.sample(at.node.outputs.front()).axes;
  const auto& order = at.node.integers("perm");
  const std::size_t rank = at.shape(0).size();
  Value axes = Value::make_list();
  for (const std::size_t axis : to) {
    if (axis >= rank || (!order.empty() && order.size() != rank)) return draft;
    const auto source = order.empty() ? rank - 1 - axis : static_cast<std::size_t>(order[axis]);
    const auto found = std::find(from.begin(), from.end(), source);
    if (found == from.end()) return draft;
    axes.items().push_back(Value::make(static_cast<std::int64_t>(found - from.begin())));
  }
  if (to.empty() || to.size() != from.size()) return draft;
  const auto& items = axes.items();
  // In Sluice, the channels are always the last axis. So a transposition in ONNX may leave the axes of a sample in the
  // same order. Then it needs no layer.
  draft.is_alias = true;
  for (std::size_t i = 0; i < items.size(); ++i)
    draft.is_alias = draft.is_alias && items[i].as_integer() == static_cast<std::int64_t>(i);
  draft.type = "transpose";
  draft.with_shape = false;
  draft.set("axes", std::move(axes));
  return draft;
}

Draft gather(const Drafting& at) {
  Draft draft;
  if (!at.is_constant(0) || !at.is_data(1)) return draft;
  const Shape& table = at.shape(0);
  if (table.size() != 2 || at.node.integer("axis", 0) != 0 ||
      at.sample(at.node.inputs[1]).shape.size() != 1)
    return draft;
  draft = {.type = "embedding", .reads = {1}, .weights = {0}};
  draft.set("entries", Value::make(table[0]));
  draft.set("features", Value::make(table[1]));
  return draft;
}

}  // namespace sluice::onnx_import
