// Convolutions and pools.
#include <algorithm>

#include "base/quantity.hpp"
#include "model/onnx/rules.hpp"

namespace sluice::onnx_import {
namespace {

Value integers(const std::vector<std::int64_t>& list) {
  Value value = Value::make_list();
  for (const std::int64_t item : list) value.items().push_back(Value::make(item));
  return value;
}

/// One integer where all are alike.
Value extents(const std::vector<std::int64_t>& list) {
  const bool alike =
      std::adjacent_find(list.begin(), list.end(), std::not_equal_to<>()) == list.end();
  return alike && !list.empty() ? Value::make(list.front()) : integers(list);
}

std::int64_t product(const Shape& extents) {
  std::int64_t all = 1;
  for (const std::int64_t extent : extents) all = checked_mul(all, extent, "elements of a kernel");
  return all;
}

/// An attribute that is 1 unless it is given.
void set_unless_1(Draft& draft, const char* key, const std::vector<std::int64_t>& list) {
  if (std::any_of(list.begin(), list.end(), [](std::int64_t each) { return each != 1; }))
    draft.set(key, extents(list));
}

void set_padding(const Drafting& at, Draft& draft) {
  const std::string automatic = at.node.text("auto_pad", "NOTSET");
  const auto& pads = at.node.integers("pads");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER")
    draft.set("padding", Value::make(std::string("same")));
  else if (automatic == "NOTSET" &&
           std::any_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad != 0; }))
    draft.set("padding", extents(pads));
}

/// The key `kernel` of a convolution, from its weights' extents [., ., kernel...].
Shape kernel_of(const Drafting& at) {
  const Shape& weights = at.shape(1);
  if (weights.size() < 3) at.fail("weights of fewer than 3 axes");
  return Shape(weights.begin() + 2, weights.end());
}

}  // namespace

Draft convolution(const Drafting& at) {
  const Shape kernel = kernel_of(at);
  const std::int64_t channels = at.shape(1)[0], depth = at.shape(1)[1];
  Draft draft;
  draft.macs = checked_mul(depth, product(kernel), "multiply-accumulates");
  draft.flop = at.node.has_input(2) ? 1 : 0;
  draft.weights = {1, 2};
  if (!at.is_constant(1) || at.is_data(2)) return draft;  // weights that are computed
  draft.type = "conv" + std::to_string(kernel.size()) + "d";
  draft.set("channels", Value::make(channels));
  draft.set("kernel", extents(kernel));
  set_unless_1(draft, "stride", at.node.integers("strides"));
  set_padding(at, draft);
  set_unless_1(draft, "dilation", at.node.integers("dilations"));
  if (const std::int64_t groups = at.node.integer("group", 1); groups != 1)
    draft.set("groups", Value::make(groups));
  if (!at.node.has_input(2)) draft.set("bias", Value::make(false));
  return draft;
}

Draft transposed_convolution(const Drafting& at) {
  const Shape kernel = kernel_of(at);
  const std::int64_t groups = at.node.integer("group", 1);
  Draft draft;
  // Each input element meets the weights of its channel.
  draft.input_flop = checked_mul(2 * at.shape(1)[1], product(kernel), "FLOP");
  draft.flop = at.node.has_input(2) ? 1 : 0;
  draft.weights = {1, 2};
  if (!at.is_constant(1) || at.is_data(2)) return draft;
  draft.type = "conv_transpose" + std::to_string(kernel.size()) + "d";
  draft.set("channels", Value::make(checked_mul(at.shape(1)[1], groups, "channels")));
  draft.set("kernel", extents(kernel));
  set_unless_1(draft, "stride", at.node.integers("strides"));
  set_padding(at, draft);
  set_unless_1(draft, "dilation", at.node.integers("dilations"));
  const auto& extra = at.node.integers("output_padding");
  if (std::any_of(extra.begin(), extra.end(), [](std::int64_t each) { return each != 0; }))
    draft.set("output_padding", extents(extra));
  if (groups != 1) draft.set("groups", Value::make(groups));
  if (!at.node.has_input(2)) draft.set("bias", Value::make(false));
  return draft;
}

Draft pool(const Drafting& at) {
  const auto& kernel = at.node.integers("kernel_shape");
  if (kernel.empty()) at.fail("'kernel_shape' is missing");
  Draft draft;
  draft.flop = checked_mul(at.rule.flop, product(kernel), "FLOP");
  const auto& dilations = at.node.integers("dilations");
  if (std::any_of(dilations.begin(), dilations.end(), [](std::int64_t d) { return d != 1; }))
    return draft;  // which no pool of the catalog has
  draft.type = at.rule.word;
  draft.set("kernel", extents(kernel));
  const auto& strides = at.node.integers("strides");
  draft.set("stride", strides.empty() ? Value::make(std::int64_t{1}) : extents(strides));
  set_padding(at, draft);
  if (at.node.integer("ceil_mode", 0) != 0) draft.set("ceil", Value::make(true));
  return draft;
}

Draft global_pool(const Drafting& at) {
  Draft draft;
  draft.type = at.rule.word;
  draft.input_flop = at.rule.flop;
  return draft;
}

}  // namespace sluice::onnx_import
