// What several layer types share: counting elements, and checking shapes.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "document/record.hpp"
#include "model/model.hpp"

namespace sluice {

/// The product of the extents, checked for overflow.
std::int64_t elements_of(const Shape& shape);

/// "[26, 26, 96]"
std::string text_of(const Shape& shape);

/// The key `axis`, counted from 0, or from the end, where -1 is the last axis.
Field axis_field();
/// The axis of `shape` that the key `axis` means. Throws InputError there.
std::size_t axis_of(const Reader& keys, const Shape& shape);

/// The key `name`, a list of extents of at least 1. Throws InputError.
Shape read_shape(const Reader& keys, std::string_view name);

/// The common shape to which both stretch: they are aligned at the last axis, and an extent of 1
/// becomes the other's extent. Throws InputError at the layer's `inputs`.
Shape stretched(const Reader& keys, const Shape& a, const Shape& b);

/// No limit, as a layer type's largest number of inputs.
inline constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

}  // namespace sluice
