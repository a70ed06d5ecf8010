// Computes the bytes of memory_of() for the most frequent case, much faster than in the general case: a single device
// computes all stages. Searches for fates compute the memory of many tapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fates/tape.hpp"

namespace sluice {

/// Returns TapeMemory::bytes for a chain with one device. But weights that take turns only count in passes of their own
/// stage. If micro-batches run side by side, `passes` has for each operation of the tape the index of its pass.
/// Otherwise `passes` is empty. Returns no value if an operation names a stage that the chain does not have, reads a
/// tensor that the device does not hold, or loads a copy that nobody saved.
std::optional<std::vector<std::int64_t>> bytes_from_end(const Chain& chain, const Tape& tape,
                                                        const std::vector<std::size_t>& passes);

}  // namespace sluice
