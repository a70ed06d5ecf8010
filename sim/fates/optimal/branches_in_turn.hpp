// Searches for the fates of a chain that branches, for runs in which copies and computation take turns. In a small
// chain, the search tries all choices. In a larger chain, the search begins with the relaxation of the turning point
// (relaxation.hpp) and with a known tape, and changes one choice or two choices at a time.
#pragma once

#include <cstdint>

#include "fates/tape.hpp"

namespace sluice {

/// Returns the fastest tape within the budget that the search finds, or an empty tape if the search finds no tape.
/// Parameter `known` is a tape within the budget, or empty.
Tape search_branches(const Chain& chain, std::int64_t budget, const Tape& known);

}  // namespace sluice
