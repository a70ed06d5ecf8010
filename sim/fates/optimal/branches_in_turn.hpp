// Searches for the fates of a chain that branches. In its runs, copies and computation take turns. In a small chain,
// the search tries all choices. In a larger chain, it starts from a known tape, and from tapes of the relaxation
// (relaxation.hpp). It changes one or two choices at a time.
#pragma once

#include <cstdint>

#include "fates/tape.hpp"

namespace sluice {

/// Returns the fastest tape that the search finds within the budget. If it finds none, returns an empty tape.
/// Parameter `known` is a tape within the budget, or empty.
Tape search_branches(const Chain& chain, std::int64_t budget, const Tape& known);

}  // namespace sluice
