// Computes memory_of() for the most frequent case, much faster than in the general case: one device computes one
// micro-batch at a time. Searches for fates compute the memory of many tapes.
#pragma once

#include <optional>

#include "fates/tape.hpp"

namespace sluice {

/// Returns the result of memory_of() for a chain with one device, and without micro-batches side by side. Returns no
/// value if an operation names a stage that the chain does not have, reads a tensor that the device does not hold, or
/// loads a copy that nobody saved.
std::optional<TapeMemory> memory_from_end(const Chain& chain, const Tape& tape);

}  // namespace sluice
