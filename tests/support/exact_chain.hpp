// Finds the least seconds of a small chain whose tensors are never copied, by looking at every possible order of passes.
// This search shares no code with the searches of the program.
#pragma once

#include <cstdint>

#include "fates/chain.hpp"

namespace sluice::test {

/// Returns the least seconds within `budget` bytes, or infinity if the budget is too small. The chain must not branch,
/// its input must have 0 bytes, and its passes must have no workspaces. A backward pass must read the input of its
/// stage, and only the last backward pass may read the output of its stage. For up to 6 stages.
double least_seconds_without_copies(const Chain& chain, std::int64_t budget);

}  // namespace sluice::test
