// Placements that fill the first memories: groups of kinds of tensors go there in an order, while the first memories
// have room. With the placement `first_touch`, this is the order of their first use. placed_prices.hpp says which
// tensors are of one kind.
#pragma once

#include <cstdint>
#include <functional>
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

/// Groups of kinds. All kinds of a group are in the same memory.
struct KindGroups {
  std::vector<TensorKinds> groups;
  /// Returns the index of the group of a tensor in a first memory, or nothing if the tensor always stays there.
  std::function<std::optional<std::size_t>(const Placement&)> group_of;
  /// For FillOrder::seconds_per_byte: the seconds that each group in the first memories saves.
  std::vector<double> saved_s = {};
};
enum class FillOrder : std::uint8_t { first_use, listed, seconds_per_byte };

/// Returns placements. Each element is the set of kinds in the second memory. `plan` has all tensors of the devices in
/// the pools `firsts`.
///
/// The function goes through the sizes of the first memories, from the bytes that all groups need to 0. For each size,
/// every group whose bytes fit beside the bytes of the groups before it goes to the first memory. `order` is the order
/// of the groups: that of their first use, that of the list, or that of the seconds that a group saves per byte, the
/// greatest first. For this last order, the most bytes of a group at one moment count. All bytes are counted at each
/// action, in the order in which the plan lists the actions. The sizes do not depend on the capacity of a memory. All devices have first
/// memories of the same size. A placement that does not fit into `firsts` is left out.
std::vector<TensorKinds> filled_placements(const Plan& plan, const std::vector<FirstMemory>& firsts,
                                           const KindGroups& kinds, FillOrder order);

}  // namespace sluice
