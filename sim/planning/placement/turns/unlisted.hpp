// Tensors that computations use although the plan does not list them among the operands of the computations. A plan lists
// operands so that tensors are freed at the right time. So for one load of weights, it lists the weights only at the first
// and at the last computation. It does not list tensors that stay on the device during the whole run.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"
#include "planning/placement/turns/placed_prices.hpp"

namespace sluice {

/// Returns, for each action of the plan, the weights, the gradients of weights and the optimizer state in this pool that
/// the action uses, but does not list.
std::vector<std::vector<Placement>> unlisted_operands(const Plan& plan, std::uint32_t pool,
                                                      PlacedPrices& prices);

}  // namespace sluice
