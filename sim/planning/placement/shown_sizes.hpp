// The sizes of the shown machines of placed turns (placed_turns.hpp): the bytes of the single memory for which the policy
// plans. The sizes follow from the model, the cut and the workload alone.
#pragma once

#include <cstdint>
#include <vector>

#include "planning/parts.hpp"

namespace sluice {

/// Returns the sizes, the greatest first.
std::vector<std::int64_t> shown_sizes(const PolicyRequest& request, const CommonParameters& common);

}  // namespace sluice
