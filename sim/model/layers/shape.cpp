#include "model/layers/shape.hpp"

#include "document/key.hpp"

namespace sluice {

std::int64_t elements_of(const Shape& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements = checked_mul(elements, extent, "elements");
  return elements;
}

std::string text_of(const Shape& shape) {
  std::string text;
  for (const std::int64_t extent : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + text + "]";
}

Field axis_field() {
  return Key::integer(
             "axis",
             "the number of the axis, counted from 0; -1 is the last axis, and -2 the axis before it. "
             "The last axis of an image has its channels")
      .by_default("-1")
      .between(-16, 15);
}

std::size_t axis_of(const Reader& keys, const Shape& shape) {
  const auto axes = static_cast<std::int64_t>(shape.size());
  const std::int64_t given = keys.integer("axis");
  if (given < -axes || given >= axes)
    keys.fail("axis", "'" + std::to_string(given) + "' for 'axis': " + text_of(shape) +
                          " has the axes " + std::to_string(-axes) + " to " +
                          std::to_string(axes - 1));
  return static_cast<std::size_t>(given < 0 ? given + axes : given);
}

Shape read_shape(const Reader& keys, std::string_view name) {
  const Value& extents = *keys.value(name);
  const std::string key = "'" + std::string(name) + "'";
  Shape shape;
  for (const Value& extent : extents.items()) {
    if (extent.kind() != Value::Kind::integer || extent.as_integer() < 1)
      fail_at(extent, "'" + extent.text() + "' in " + key + ": expected an integer of at least 1");
    shape.push_back(extent.as_integer());
  }
  if (shape.empty()) keys.fail(name, key + " is empty, expected at least one extent");
  return shape;
}

Shape stretched(const Reader& keys, const Shape& a, const Shape& b) {
  Shape shape = a.size() >= b.size() ? a : b;
  const Shape& other = a.size() >= b.size() ? b : a;
  for (std::size_t i = 1; i <= other.size(); ++i) {
    std::int64_t& extent = shape[shape.size() - i];
    const std::int64_t with = other[other.size() - i];
    if (extent != with && extent != 1 && with != 1)
      keys.fail(
          "inputs",
          keys.text("type") + " of " + text_of(a) + " and " + text_of(b) +
              ": expected two equal extents, or one extent of 1, at each axis, counted from the last axis");
    if (extent == 1) extent = with;
  }
  return shape;
}

}  // namespace sluice
