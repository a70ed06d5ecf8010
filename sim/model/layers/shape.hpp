// What several layer types share: counting elements, and what a shape must be.
#pragma once

#include <cstdint>
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

}  // namespace sluice
