// The output of these layers is a part of their input, or their whole input in another order. All these layers are
// views. A view computes, moves and keeps nothing.
#include <algorithm>

#include "base/quantity.hpp"
#include "document/key.hpp"
#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

std::int64_t at_least_one(const Value& value, std::string_view key) {
  if (value.kind() != Value::Kind::integer || value.as_integer() < 1)
    fail_at(value, "'" + value.text() + "' in '" + std::string(key) +
                       "': expected an integer of at least 1");
  return value.as_integer();
}

std::int64_t part_of_sizes(const Reader& keys, std::int64_t extent, std::int64_t part) {
  const std::vector<Value>& sizes = keys.value("sizes")->items();
  std::int64_t sum = 0;
  for (const Value& size : sizes) sum = checked_add(sum, at_least_one(size, "sizes"), "sizes");
  if (sum != extent)
    keys.fail("sizes", "'sizes' sum up to " + std::to_string(sum) + ", expected the extent " +
                           std::to_string(extent));
  if (part >= static_cast<std::int64_t>(sizes.size()))
    keys.fail("part", "'" + std::to_string(part) + "' for 'part': there are the parts 0 to " +
                          std::to_string(sizes.size() - 1));
  return sizes[static_cast<std::size_t>(part)].as_integer();
}

LayerCounts infer_split(const Reader& keys, const std::vector<const Shape*>& inputs) {
  LayerCounts counts;
  counts.shape = *inputs[0];
  const std::size_t axis = axis_of(keys, counts.shape);
  std::int64_t& extent = counts.shape[axis];
  if (axis + 1 == counts.shape.size()) counts.dependence.kind = InputDependence::Kind::same_place;
  const std::int64_t part = keys.integer("part");
  if (keys.has("parts") == keys.has("sizes"))
    keys.fail(keys.has("parts") ? "parts" : "type", "split needs either 'parts' or 'sizes'");
  if (keys.has("sizes")) {
    extent = part_of_sizes(keys, extent, part);
    return counts;
  }
  const std::int64_t parts = keys.integer("parts");
  if (extent % parts != 0)
    keys.fail("parts", "'" + std::to_string(parts) +
                           "' for 'parts': expected a divisor of the extent " +
                           std::to_string(extent));
  if (part >= parts)
    keys.fail("part", "'" + std::to_string(part) + "' for 'part': there are the parts 0 to " +
                          std::to_string(parts - 1));
  extent /= parts;
  return counts;
}

LayerCounts infer_slice(const Reader& keys, const std::vector<const Shape*>& inputs) {
  LayerCounts counts;
  counts.shape = *inputs[0];
  const std::size_t axis = axis_of(keys, counts.shape);
  std::int64_t& extent = counts.shape[axis];
  if (axis + 1 == counts.shape.size()) counts.dependence.kind = InputDependence::Kind::same_place;
  const std::int64_t begin = keys.integer("begin");
  const std::int64_t end = keys.has("end") ? keys.integer("end") : extent;
  if (end > extent)
    keys.fail("end", "'" + std::to_string(end) + "' for 'end': the input " + text_of(*inputs[0]) +
                         " has an extent of " + std::to_string(extent) + " along this axis");
  if (begin >= end)
    keys.fail("begin", "'" + std::to_string(begin) + "' for 'begin': expected a position before " +
                           std::to_string(end) + ", where the slice ends");
  extent = (end - begin - 1) / keys.integer("step") + 1;
  return counts;
}

LayerCounts infer_transpose(const Reader& keys, const std::vector<const Shape*>& inputs) {
  const Shape& from = *inputs[0];
  const std::vector<Value>& axes = keys.value("axes")->items();
  LayerCounts counts;
  std::vector<bool> taken(from.size(), false);
  for (const Value& axis : axes) {
    const bool integer = axis.kind() == Value::Kind::integer && axis.as_integer() >= 0 &&
                         axis.as_integer() < static_cast<std::int64_t>(from.size());
    const auto index = integer ? static_cast<std::size_t>(axis.as_integer()) : 0;
    if (!integer || taken[index])
      fail_at(axis, "'" + axis.text() + "' in 'axes': expected each of 0 to " +
                        std::to_string(from.size() - 1) + " once");
    taken[index] = true;
    counts.shape.push_back(from[index]);
  }
  if (axes.size() != from.size())
    keys.fail("axes", "'axes' has " + std::to_string(axes.size()) + " of the " +
                          std::to_string(from.size()) + " axes of the input " + text_of(from));
  return counts;
}

}  // namespace

extern const LayerType split_layer, slice_layer, transpose_layer;

const LayerType split_layer = {
    .name = "split",
    .summary = "Divides its input into parts along an axis, and takes one of the parts.",
    .details =
        "The layer computes and moves nothing, because its output is a part of the memory of its input. A later layer "
        "that keeps the output for its backward pass keeps the whole input. Use one split layer per part: for example, "
        "three split layers take queries, keys and values from one product.",
    .source = "definition, as in NumPy's split",
    .example = "{type: input, shape: [128, 2304]}, {type: split, parts: 3, part: 0}",
    .parameters =
        {axis_field(), Key::integer("parts", "the number of equal parts").or_absent().at_least(1),
         Key::list("sizes", "the extents of the parts, if they are not equal").or_absent(),
         Key::integer("part", "the number of the part, counted from 0")},
    .infer = infer_split,
    .view = true,
};

const LayerType slice_layer = {
    .name = "slice",
    .summary = "Takes the elements between two positions along an axis of its input.",
    .details =
        "The layer computes and moves nothing, because its output is a part of the memory of its input. The output has "
        "ceil((end - begin) / step) elements along the axis. A later layer that keeps the output for its backward pass "
        "keeps the whole input.",
    .source = "definition, as in NumPy's basic indexing",
    .example = "{type: input, shape: [128, 768]}, {type: slice, axis: 0, begin: 0, end: 64}",
    .parameters =
        {axis_field(), Key::integer("begin", "the first position, counted from 0").by_default("0"),
         Key::integer(
             "end",
             "the position after the last element that may be taken; by default the extent of the axis")
             .or_absent()
             .at_least(1),
         Key::integer("step", "the distance from one position to the next")
             .by_default("1")
             .at_least(1)},
    .infer = infer_slice,
    .view = true,
};

const LayerType transpose_layer = {
    .name = "transpose",
    .summary = "Puts the axes of its input into another order.",
    .details =
        "The output has the same memory as the input, and is read in another order. So the layer computes and moves "
        "nothing. A later layer that keeps the output for its backward pass keeps the input. If the program that you "
        "describe copies the elements, use `operator` instead.",
    .source = "definition, as in NumPy's transpose",
    .example = "{type: input, shape: [196, 768]}, {type: transpose, axes: [1, 0]}",
    .parameters = {Key::list(
        "axes",
        "for each axis of the output, the number of the same axis in the input, counted from 0")},
    .infer = infer_transpose,
    .view = true,
};

}  // namespace sluice
