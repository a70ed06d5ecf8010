// How many layers a model's document lists once its repetitions and blocks are written out. It is
// counted before anything is expanded, so that a short document with far too many layers is refused
// at once.
#pragma once

#include <cstdint>

#include "document/value.hpp"
#include "model/parameters.hpp"

namespace sluice {

/// Throws InputError at the item of `layers` with which there are more than `most` layers. A block
/// that is used many times with the same parameters is counted once. What the expansion will refuse
/// counts as one layer. `blocks` may be null.
void refuse_too_many_layers(const Value& layers, const Parameters& parameters, const Value* blocks,
                            std::int64_t most);

}  // namespace sluice
