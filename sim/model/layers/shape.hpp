// What several layer types share: counting elements, and windows that slide over an image.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/record.hpp"
#include "model/model.hpp"

namespace sluice {

/// The product of the extents; checked.
std::int64_t elements_of(const Shape& shape);

/// "[26, 26, 96]"
std::string text_of(const Shape& shape);

/// Throws InputError at the layer's `type` unless the shape is [height, width, channels].
void require_image(const Reader& keys, const Shape& shape);

/// The keys kernel, stride and padding. `stride_default`: "1", or none where it is the kernel's.
std::vector<Field> window_fields(std::optional<std::string> stride_default);

/// [height, width] that a window, moved by `stride`, leaves of an image [height, width, channels]:
///   valid: floor((n - kernel) / stride) + 1; same: ceil(n / stride);
///   an integer p: p more on either side, floor((n + 2p - kernel) / stride) + 1.
/// Throws InputError where the kernel is larger than the (padded) image.
Shape slide(const Reader& keys, const Shape& image, std::int64_t stride);

}  // namespace sluice
