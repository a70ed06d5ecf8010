// What several layer types share: counting elements, and what a shape must be.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "document/record.hpp"
#include "model/model.hpp"

namespace sluice {

/// The product of the extents; checked.
std::int64_t elements_of(const Shape& shape);

/// "[26, 26, 96]"
std::string text_of(const Shape& shape);

/// The key `axis`, from 0, or from the end, -1 being the last.
Field axis_field();
/// The axis of `shape` that the key `axis` means. Throws InputError there.
std::size_t axis_of(const Reader& keys, const Shape& shape);

/// The key `name`, a list of extents of at least 1. Throws InputError.
Shape read_shape(const Reader& keys, std::string_view name);

/// The shape that both stretch to: aligned at the last axis, an extent of 1 takes the other's.
/// Throws InputError at the layer's `inputs`.
Shape stretched(const Reader& keys, const Shape& a, const Shape& b);

/// As a layer type's greatest number of inputs: no limit.
inline constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

}  // namespace sluice
