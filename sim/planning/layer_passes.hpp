// The passes of layers that an action computes. Their prices add up to the price of the action (lower.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cost/work.hpp"
#include "planning/lower.hpp"

namespace sluice {

/// A pass of a layer, as one part of an action. The price of this part is the price of the pass, or `multiple` times
/// the price of the pass if `multiple` has a value.
struct LayerPass {
  std::uint32_t layer = 0;
  Pass pass = Pass::forward;
  std::optional<double> multiple = {};

  /// Returns the price of this part of the action, if `price` is the price of the pass.
  Price part(const Price& price) const { return multiple ? multiple_of(price, *multiple) : price; }
};

/// Returns the passes that an action computes, in the order of the layers. The workload may give the price of backward
/// passes as a multiple of the forward pass. Then the result for a backward action has the forward passes of its
/// layers, each with this multiple, or with half of it if the action computes only one of the two gradients. An update
/// has no passes of layers.
std::vector<LayerPass> layer_passes(const Pricing& pricing, const StageQuery& query);

}  // namespace sluice
