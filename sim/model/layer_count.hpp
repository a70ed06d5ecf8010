// Counts the layers that a model's document has when its repetitions and blocks are written out. Layers are counted
// before anything is expanded. So a short document with far too many layers is refused at once.
#pragma once

#include <cstdint>

#include "document/value.hpp"
#include "model/parameters.hpp"

namespace sluice {

/// Throws InputError at the item of `layers` with which the number of layers exceeds `most`. A block that is used many
/// times with the same parameters is counted once. An item with an error counts as one layer, because read_layers
/// reports the error later. `blocks` may be null.
void refuse_too_many_layers(const Value& layers, const Parameters& parameters, const Value* blocks,
                            std::int64_t most);

}  // namespace sluice
