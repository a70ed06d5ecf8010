// The placement `first_touch` of a plan: the kinds of tensors go to the first memory in the order of their first use,
// while the first memory has room. placed_prices.hpp says which tensors are of one kind.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.hpp"
#include "planning/placement/turns/placed_prices.hpp"

namespace sluice {

/// Returns the placements that `first_touch` can have. Each element is the set of kinds in the second memory. `plan` has
/// all tensors of the device in the pool `first`, and `kind_of` is indexed by tensor.
///
/// The function goes through the sizes of a first memory, from the bytes that all kinds need to 0. For each size, every
/// kind whose bytes fit beside the bytes of the kinds before it goes to the first memory. These bytes are counted at
/// each action, in the order in which the plan lists the actions. The sizes do not depend on the capacity of a memory.
/// A placement that needs more than `most` bytes of the first memory is left out.
std::vector<TensorKinds> first_touch_placements(
    const Plan& plan, std::uint32_t first, const std::vector<std::optional<TensorKind>>& kind_of,
    std::optional<std::int64_t> most);

}  // namespace sluice
