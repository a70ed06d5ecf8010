// Counts the layers that a model has when all repetitions and blocks of its document are written out. The layers are
// counted before any repetition or block is written out. So a short document with far too many layers is refused at
// once.
#pragma once

#include <cstdint>

#include "document/value.hpp"
#include "model/parameters.hpp"

namespace sluice {

/// If there are more than `most` layers, throws InputError at the first item of `layers` with which there are too many.
/// If a block is used again with the same values of its parameters, the number of its layers is not computed again. An
/// item with an error counts as one layer, because read_layers reports the error later. `blocks` may be null.
void refuse_too_many_layers(const Value& layers, const Parameters& parameters, const Value* blocks,
                            std::int64_t most);

}  // namespace sluice
