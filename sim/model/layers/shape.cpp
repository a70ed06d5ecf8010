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

}  // namespace sluice
