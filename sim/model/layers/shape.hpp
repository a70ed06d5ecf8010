// Several layer types use these functions. They count the elements of shapes, read keys and check shapes.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "document/record.hpp"
#include "model/model.hpp"

namespace sluice {

/// Returns the product of the extents, checked for overflow.
std::int64_t elements_of(const Shape& shape);

/// Returns the shape as text, such as "[26, 26, 96]".
std::string text_of(const Shape& shape);

/// Returns the field of the key `axis`. The key's value is the number of an axis, counted from 0. The value -1 means
/// the last axis.
Field axis_field();
/// Returns the axis of `shape` that the key `axis` names. Throws InputError at the key.
std::size_t axis_of(const Reader& keys, const Shape& shape);

/// Reads the key `name`, a list of extents of at least 1. Throws InputError.
Shape read_shape(const Reader& keys, std::string_view name);

/// Returns the common shape to which `a` and `b` are broadcast. The shapes are aligned at the last axis, and an extent
/// of 1 becomes the extent of the other shape. Throws InputError at the layer's `inputs`.
Shape stretched(const Reader& keys, const Shape& a, const Shape& b);

/// The value of `max_inputs` for a layer type that takes any number of inputs.
inline constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();

}  // namespace sluice
