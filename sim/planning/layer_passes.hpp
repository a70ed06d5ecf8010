// The passes of layers that an action computes. Their prices add up to the price of the action (lower.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cost/work.hpp"
#include "planning/lower.hpp"

namespace sluice {

/// A pass of a layer. If `multiple` has a value, the action costs this multiple of the pass. Otherwise it costs as much
/// as the pass.
struct LayerPass {
  std::uint32_t layer = 0;
  Pass pass = Pass::forward;
  std::optional<double> multiple = {};

  /// Returns the price of the action's part, if `price` is the price of the pass.
  Price part(const Price& price) const { return multiple ? multiple_of(price, *multiple) : price; }
};

/// Returns the passes that an action computes, in the order of the layers. If the workload gives the backward pass as a
/// multiple of the forward pass, the passes of a backward pass are forward passes with this multiple. An update has no
/// passes of layers.
std::vector<LayerPass> layer_passes(const Pricing& pricing, const StageQuery& query);

}  // namespace sluice
