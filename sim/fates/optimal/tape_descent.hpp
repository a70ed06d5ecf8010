// Improves a tape operation by operation, if copies and computation take turns. The choices of choices.hpp cannot
// express every tape: in a tape of a frontier, a stage may run three times, and it may run only for some of the later
// passes. This search changes such a tape directly.
//
// A step removes a load, or a pass that runs again. The tensors that this operation brought then stay on the device
// from the operation that brought them before. Operations whose results nobody reads any more are removed, too. If the
// tape no longer fits, other tensors leave the device at the operation with the most bytes. Before their next use, they
// are made again or loaded. The step counts if the tape fits in the end and takes fewer seconds.
#pragma once

#include <cstdint>

#include "fates/tape.hpp"

namespace sluice {

/// Returns a tape that fits into the budget and into host memory, and is at least as fast as `tape`. `tape` must fit.
Tape improved_tape(const Chain& chain, std::int64_t budget, const Tape& tape);

/// Returns the tape without operations whose results no later operation reads: passes that run again, loads and saves.
/// Passes whose inner tensors nobody reads do not keep them.
Tape without_idle_operations(const Chain& chain, const Tape& tape);

}  // namespace sluice
