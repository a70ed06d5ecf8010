// The times for which a tensor of a plan could leave the first memory of its device. Between two computations that use
// it, a tensor is not needed. It may wait in the second memory, so that the first memory has room for other tensors. It
// must be back before the second of the two computations begins. These times are called gaps.
//
// A tensor of a micro-batch has gaps between the computations that use it: for example, an activation has one between
// its forward and its backward pass. The gradients and the optimizer state of weights that stay on the device have one
// gap per round: from their last use in a round to their first use in the next round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/plan.hpp"
#include "planning/placement/turns/placed_kinds.hpp"

namespace sluice {

struct WaitingGap {
  std::uint32_t tensor = none;
  std::size_t device = 0;  ///< its index in PlacedPrices::devices()
  std::uint32_t leaves_after =
      none;  ///< the computation after which the tensor leaves the first memory
  std::uint32_t needed_by = none;  ///< the computation that uses it next
  /// The copy back to the first memory is listed before this action. With CopyMode::asynchronous, it begins when the
  /// computation `back_after` has ended.
  std::uint32_t back_before = none;
  Wait back_after = {none, 0};
  /// Whether the tensor stays on the device during the whole run. Then `needed_by` belongs to the next round.
  bool stays = false;
  double seconds = 0;  ///< the seconds that other computations of the device take in the gap
};

/// A placed plan, its computations, and its gaps.
class WaitingGaps {
 public:
  /// The plan must come from `placed`, perhaps with moves of weights. It must outlive the object. With
  /// CopyMode::synchronous, a tensor comes back directly before the computation that needs it. With
  /// CopyMode::asynchronous, it begins to come back as many computations earlier as its copy takes.
  WaitingGaps(PlacedPrices& prices, const PlacedKinds& placed, const Plan& plan, CopyMode mode);

  const std::vector<WaitingGap>& all() const { return gaps_; }
  /// Returns the computations of a device in the body, in listing order.
  const std::vector<std::uint32_t>& computations(std::size_t device) const {
    return devices_[device].computations;
  }

  /// Gaps in which tensors wait, and the most bytes that each first memory then needs. The bytes are counted in listing
  /// order.
  struct Choice {
    std::vector<std::size_t> gaps;    ///< indices of all()
    std::vector<std::int64_t> bytes;  ///< by device
  };
  /// Returns several choices, from few gaps, which save few bytes, to many. At the moment that needs the most bytes, the
  /// tensor with the longest gap leaves.
  std::vector<Choice> choices() const;

 private:
  struct OfDevice {
    std::uint32_t first = none;  ///< the first memory
    std::vector<std::uint32_t> computations;
    std::vector<double>
        starts;  ///< the seconds of all computations before each of them, and of all
    double copy_back_setup_s = 0, copy_back_rate = 0;
  };
  struct Life;

  void find_computations();
  void find_passing();
  void find_staying();
  void add_gaps(std::uint32_t tensor, std::size_t device, const Life& life);
  void add(WaitingGap gap);
  std::size_t position(std::size_t device, std::uint32_t computation) const;
  std::vector<std::int64_t> levels(std::size_t device) const;
  void add_choices(std::size_t device, std::vector<Choice>& all) const;

  PlacedPrices& prices_;
  const PlacedKinds& placed_;
  const Plan& plan_;
  CopyMode mode_;
  std::vector<OfDevice> devices_;
  std::vector<WaitingGap> gaps_;
};

}  // namespace sluice
