// The search for fates in a chain that branches, where all operations take turns. In a small chain
// all choices are tried. In a larger one, choices are improved one or two at a time, from the
// relaxation of the turning point (relaxation.hpp) and from a known tape.
#pragma once

#include <cstdint>

#include "fates/tape.hpp"

namespace sluice {

/// Returns the fastest tape within the budget that the search finds, or an empty tape if it finds none. `known` is a
/// tape within the budget, or empty.
Tape search_branches(const Chain& chain, std::int64_t budget, const Tape& known);

}  // namespace sluice
