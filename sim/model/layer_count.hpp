// Counts the layers of a model's document with all repetitions and blocks written out. The count comes before
// anything is expanded. So a short document with far too many layers is refused at once.
#pragma once

#include <cstdint>

#include "document/value.hpp"
#include "model/parameters.hpp"

namespace sluice {

/// Throws InputError if there are more than `most` layers, at the item of `layers` that exceeds this number. A block
/// that is used many times with the same parameters is counted once. An item with an error counts as one layer:
/// read_layers reports the error later. `blocks` may be null.
void refuse_too_many_layers(const Value& layers, const Parameters& parameters, const Value* blocks,
                            std::int64_t most);

}  // namespace sluice
