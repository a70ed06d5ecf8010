// The placement `first_touch` of a plan: the kinds of tensors go to the first memory in the order of their first use,
// while the first memory has room. placed_prices.hpp says which tensors are of one kind.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.hpp"
#include "planning/placement/turns/placed_prices.hpp"

namespace sluice {

/// The first memory of a device: a pool of the plan, and the most bytes that tensors may need there. It has no limit if
/// `most` is empty.
struct FirstMemory {
  std::uint32_t pool = none;
  std::optional<std::int64_t> most = {};
};

/// Returns the placements that `first_touch` can have. Each element is the set of kinds in the second memory. `plan` has
/// all tensors of the devices in the pools `firsts`, and `kind_of` is indexed by tensor.
///
/// The function goes through the sizes of the first memories, from the bytes that all kinds need to 0. For each size, every
/// kind whose bytes fit beside the bytes of the kinds before it goes to the first memory. These bytes are counted at
/// each action, in the order in which the plan lists the actions. The sizes do not depend on the capacity of a memory.
/// All devices have first memories of the same size. A placement that does not fit into `firsts` is left out.
std::vector<TensorKinds> first_touch_placements(
    const Plan& plan, const std::vector<FirstMemory>& firsts,
    const std::vector<std::optional<TensorKind>>& kind_of);

}  // namespace sluice
