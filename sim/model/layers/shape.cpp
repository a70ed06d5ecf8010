#include "model/layers/shape.hpp"

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
  return {.name = "axis",
          .type = Type::integer,
          .summary = "from 0; or from the end, -1 being the last (of an image: channels)",
          .default_text = "-1",
          .minimum = -16,
          .maximum = 15};
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

}  // namespace sluice
