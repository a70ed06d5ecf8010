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

void require_image(const Reader& keys, const Shape& shape) {
  if (shape.size() != 3)
    keys.fail("type", keys.text("type") + " needs an input of [height, width, channels], got " +
                          text_of(shape));
}

std::vector<Field> window_fields(std::optional<std::string> stride_default) {
  const bool none = !stride_default;
  return {
      {.name = "kernel",
       .type = Type::integer,
       .summary = "height and width of the window",
       .minimum = 1},
      {.name = "stride",
       .type = Type::integer,
       .summary = none ? "step of the window; by default the kernel's size" : "step of the window",
       .default_text = std::move(stride_default),
       .optional = none,
       .minimum = 1},
      {.name = "padding",
       .type = Type::integer,
       .summary = "zeros on each side: valid is none, same makes the output ceil(input / stride)",
       .default_text = "valid",
       .choices = {"valid", "same"}},
  };
}

Shape slide(const Reader& keys, const Shape& image, std::int64_t stride) {
  const std::int64_t kernel = keys.integer("kernel");
  const bool same = keys.is_word("padding", "same");
  const bool valid = keys.is_word("padding", "valid");
  const std::int64_t padding = same || valid ? 0 : keys.integer("padding");
  Shape out;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t extent = image[axis];
    if (same) {
      out.push_back((extent - 1) / stride + 1);
      continue;
    }
    const std::int64_t padded = checked_add(extent, checked_mul(padding, 2, "padding"), "padding");
    if (kernel > padded)
      keys.fail("kernel", "'" + std::to_string(kernel) + "' for 'kernel': larger than the input " +
                              text_of(image) + " with a padding of " + std::to_string(padding) +
                              ", expected at most " + std::to_string(padded));
    out.push_back((padded - kernel) / stride + 1);
  }
  return out;
}

}  // namespace sluice
