// The plan of a policy whose tensors lie in two memories of the device: each in one of them for its
// whole life. Kernels read and write them where they lie; nothing moves but inputs, weights that do
// not begin where they are wanted, and answers.
#pragma once

#include <string>
#include <vector>

#include "planning/draft.hpp"
#include "planning/parts.hpp"
#include "planning/placement/kernels.hpp"

namespace sluice {

/// The ways to place that a plan can have: those in which nothing moves.
const std::vector<std::string>& placements_of_plans();

/// Throws what `placed_draft` would throw for want of memory, without a search.
void require_placeable(const PolicyRequest& request, const Common& common);

/// One micro-batch after the other, all kept. The sum of fast memory that tensors take is at most
/// what the device has, with an input and an answer beside that are on their way. Throws InputError
/// (no two memories, a cost model without a price), Infeasible.
Draft placed_draft(const PolicyRequest& request, const Common& common, const std::string& policy,
                   const std::string& way);

}  // namespace sluice
