// The rules for convolutions and poolings.
#include <algorithm>

#include "base/quantity.hpp"
#include "model/layers/shape.hpp"
#include "model/onnx/rules.hpp"

namespace sluice::onnx_import {
namespace {

Value integers(const std::vector<std::int64_t>& list) {
  Value value = Value::make_list();
  for (const std::int64_t item : list) value.items().push_back(Value::make(item));
  return value;
}

/// Returns one integer if all elements of the list are equal. Otherwise, returns the list.
Value extents(const std::vector<std::int64_t>& list) {
  const bool alike =
      std::adjacent_find(list.begin(), list.end(), std::not_equal_to<>()) == list.end();
  return alike && !list.empty() ? Value::make(list.front()) : integers(list);
}

/// Sets the key `key` to the extents of an attribute. If the attribute is absent or all its extents are 1, the key is
/// left out, because 1 is its default.
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

/// Returns the kernel of a convolution: the extents of the weights along all axes except the first two axes.
Shape kernel_of(const Drafting& at) {
  const Shape& weights = at.shape(1);
  if (weights.size() < 3) at.fail("weights of fewer than 3 axes");
  const Shape kernel(weights.begin() + 2, weights.end());
  const auto& written = at.node.integers("kernel_shape");
  at.require(written.empty() || written == kernel, "'kernel_shape' is " + text_of(written) +
                                                       ", but the weights " + text_of(weights) +
                                                       " have a kernel of " + text_of(kernel));
  return kernel;
}

std::int64_t channels_of(const Drafting& at) {
  at.require(at.shape(0).size() >= 2, "the input has no channels");
  return at.shape(0)[1];
}

/// Returns the number of groups into which the channels are split. `of` says whose channels they are, for a message.
std::int64_t groups_of(const Drafting& at, std::int64_t channels, const char* of) {
  const std::int64_t groups = at.node.integer("group", 1);
  at.require(groups > 0 && channels % groups == 0,
             "'" + std::to_string(groups) + "' for 'group': expected a divisor of the " +
                 std::to_string(channels) + " " + of + " channels");
  return groups;
}

bool is_cropped(const Drafting& at) {
  const auto& pads = at.node.integers("pads");
  return std::any_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad < 0; });
}

}  // namespace

Draft convolution(const Drafting& at) {
  const Shape kernel = kernel_of(at);
  const std::int64_t channels = at.shape(1)[0], depth = at.shape(1)[1], in = channels_of(at);
  const std::int64_t groups = groups_of(at, channels, "output");
  at.require(checked_mul(depth, groups, "channels") == in,
             "the input " + text_of(at.shape(0)) + " has " + std::to_string(in) +
                 " channels, but the weights " + text_of(at.shape(1)) + " are for " +
                 std::to_string(groups) + " x " + std::to_string(depth));
  at.require_elements(2, channels, "output channels");
  Draft draft;
  draft.macs = checked_mul(depth, elements_of(kernel), "multiply-accumulates");
  draft.flop = at.node.has_input(2) ? 1 : 0;
  draft.weights = {1, 2};
  if (!at.is_constant(1) || at.is_data(2)) draft.lacks = "weights that are computed";
  if (is_cropped(at)) draft.lacks = "a negative padding";
  if (!draft.lacks.empty()) return draft;
  draft.type = "conv" + std::to_string(kernel.size()) + "d";
  draft.set("channels", Value::make(channels));
  draft.set("kernel", extents(kernel));
  set_unless_1(draft, "stride", at.node.integers("strides"));
  set_padding(at, draft);
  set_unless_1(draft, "dilation", at.node.integers("dilations"));
  if (groups != 1) draft.set("groups", Value::make(groups));
  if (!at.node.has_input(2)) draft.set("bias", Value::make(false));
  return draft;
}

/// Sets the padding of a transposed convolution whose output extents are given. Without padding, the output's extent
/// would be stride x (input - 1) + dilation x (kernel - 1) + 1 + output_padding. The padding is this extent minus the
/// given extent. Each side gets half of the padding. If the padding is odd, `auto_pad` says which side gets one element
/// more. Returns false if the padding would be negative.
bool set_cut(const Drafting& at, Draft& draft, const Shape& kernel) {
  const Shape &image = at.shape(0), &output = known_shape(at.graph, at.node, at.node.outputs[0]);
  const std::size_t axes = kernel.size();
  at.require(image.size() == axes + 2 && output.size() == axes + 2, "expected images");
  const auto of = [&](const char* attribute, std::size_t axis, std::int64_t absent) {
    const auto& list = at.node.integers(attribute);
    return axis < list.size() ? list[axis] : absent;
  };
  const bool upper = at.node.text("auto_pad", "NOTSET") == "SAME_UPPER";
  std::vector<std::int64_t> pads(2 * axes);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::int64_t steps = checked_mul(image[axis + 2] - 1, of("strides", axis, 1), "padding");
    const std::int64_t reach = checked_mul(kernel[axis] - 1, of("dilations", axis, 1), "padding");
    const std::int64_t extra = checked_add(of("output_padding", axis, 0), 1, "padding");
    const std::int64_t whole = checked_add(checked_add(steps, reach, "padding"), extra, "padding");
    const std::int64_t cut = whole - output[axis + 2];
    if (cut < 0) return false;
    pads[axis] = upper ? cut / 2 : cut - cut / 2;
    pads[axis + axes] = cut - pads[axis];
  }
  if (std::any_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad != 0; }))
    draft.set("padding", extents(pads));
  return true;
}

Draft transposed_convolution(const Drafting& at) {
  const Shape kernel = kernel_of(at);
  const std::int64_t in = channels_of(at), groups = groups_of(at, in, "input");
  const std::int64_t channels = checked_mul(at.shape(1)[1], groups, "channels");
  at.require(at.shape(1)[0] == in, "the input " + text_of(at.shape(0)) + " has " +
                                       std::to_string(in) + " channels, but the weights " +
                                       text_of(at.shape(1)) + " are for " +
                                       std::to_string(at.shape(1)[0]));
  at.require_elements(2, channels, "output channels");
  Draft draft;
  // Each element of the input is multiplied by all weights of its channel.
  draft.input_macs = checked_mul(at.shape(1)[1], elements_of(kernel), "multiply-accumulates");
  draft.flop = at.node.has_input(2) ? 1 : 0;
  draft.weights = {1, 2};
  if (!at.is_constant(1) || at.is_data(2)) draft.lacks = "weights that are computed";
  if (is_cropped(at)) draft.lacks = "a negative padding";
  if (!draft.lacks.empty()) return draft;
  draft.type = "conv_transpose" + std::to_string(kernel.size()) + "d";
  draft.set("channels", Value::make(channels));
  draft.set("kernel", extents(kernel));
  set_unless_1(draft, "stride", at.node.integers("strides"));
  const bool by_output =
      !at.node.integers("output_shape").empty() || at.node.text("auto_pad", "NOTSET") != "NOTSET";
  if (!by_output) set_padding(at, draft);
  if (by_output && !set_cut(at, draft, kernel)) {
    draft.type.clear();
    draft.lacks = "an output with elements that no window reaches";
  }
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
  draft.flop = checked_mul(at.rule.flop, elements_of(kernel), "FLOP");
  if (is_cropped(at)) draft.lacks = "a negative padding";
  if (!draft.lacks.empty()) return draft;
  draft.type = at.rule.word;
  draft.set("kernel", extents(kernel));
  const auto& strides = at.node.integers("strides");
  draft.set("stride", strides.empty() ? Value::make(std::int64_t{1}) : extents(strides));
  set_padding(at, draft);
  set_unless_1(draft, "dilation", at.node.integers("dilations"));
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
