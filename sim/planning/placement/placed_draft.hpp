// The plan of a policy whose tensors are in two memories of the device, each in one of them for its
// whole life. Kernels read and write them where they are. The only transfers are inputs, answers,
// and weights that do not start where they are wanted.
#pragma once

#include <string>
#include <vector>

#include "planning/draft.hpp"
#include "planning/parts.hpp"
#include "planning/placement/kernels.hpp"

namespace sluice {

/// The placement methods that a plan can have: those that move nothing.
const std::vector<std::string>& placements_of_plans();

/// Throws what `placed_draft` would throw when memory is too small, but without a search.
void require_placeable(const PolicyRequest& request, const Common& common);

/// One micro-batch after the other, all kept. The tensors in fast memory take at most what the
/// device has left beside an input and an answer that are on their way. Throws InputError (no two
/// memories, a cost model without a price) and Infeasible.
Draft placed_draft(const PolicyRequest& request, const Common& common, const std::string& policy,
                   const std::string& way);

}  // namespace sluice
