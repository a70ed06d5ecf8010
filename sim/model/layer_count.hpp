// Counts the layers of a model's document with all repetitions and blocks written out. The layers are counted before
// any repetition or block is written out. So a short document with far too many layers is refused at once.
#pragma once

#include <cstdint>

#include "document/value.hpp"
#include "model/parameters.hpp"

namespace sluice {

/// If there are more than `most` layers, throws InputError at the item of `layers` with which the number is exceeded.
/// The layers of a block are counted only once for the same values of its parameters. An item with an error counts as
/// one layer, because read_layers reports the error later. `blocks` may be null.
void refuse_too_many_layers(const Value& layers, const Parameters& parameters, const Value* blocks,
                            std::int64_t most);

}  // namespace sluice
