// Takes a finished plan, and places its tensors in the two memories of the device. placed_prices.hpp says which tensors
// are of one kind. All tensors of a kind are in the same memory.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "planning/placement/turns/placed_prices.hpp"

namespace sluice {

class PlacedKinds {
 public:
  /// `plan` is a finished plan whose tensors on the device are all in the first memory. This memory may have another
  /// capacity and other rates in the plan than in the request of `prices`. `prices` must outlive the object. If
  /// `in_turn` is true, no action of the plan overlaps another action.
  PlacedKinds(PlacedPrices& prices, Plan plan, bool in_turn);
  PlacedKinds(const PlacedKinds&) = delete;

  /// Returns the kinds of the plan in the order of their seconds per byte, the greatest first. A kind's seconds say how
  /// much longer the kernels would take if only this kind were in the second memory.
  const std::vector<TensorKind>& kinds() const { return kinds_; }

  /// Returns a lower bound of the seconds of plan(slow).
  double seconds_at_least(const TensorKinds& slow) const;

  /// Returns the plan with the kinds in `slow` in the second memory. Its memories have the capacities of the request's
  /// platform.
  Plan plan(const TensorKinds& slow) const;

 private:
  void find_kinds();
  void order_kinds();
  /// Returns the seconds of all kernels of the run.
  double kernel_seconds(const TensorKinds& slow) const;

  PlacedPrices& prices_;
  Plan plan_;
  std::uint32_t first_ = none, second_ = none;       ///< the numbers of the two pools
  std::vector<std::optional<TensorKind>> kinds_of_;  ///< indexed by tensor of the plan
  std::vector<TensorKind> kinds_;
  /// How often each computation runs in a run of the plan.
  std::map<StageWork, std::int64_t> works_;
  std::optional<PlacedSeconds> bound_;
};

}  // namespace sluice
