// Tensors that wait in the second memory between two uses. In a placed plan, a kind of tensors is in one memory. Some
// tensors of a kind in the first memory may be copied to the second memory when a computation has used them, and be
// copied back before the next computation uses them (waiting_gaps.hpp). So all computations find them in the first
// memory, and the first memory has room for more tensors meanwhile. During a copy, the tensor is in both memories. A
// tensor that no computation has changed since its last copy leaves the first memory without another copy.
//
// The moves do not depend on the sizes of the memories. They make no plan faster that has enough room in the first
// memory without them.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "planning/placement/turns/placed_kinds.hpp"
#include "planning/placement/turns/waiting_gaps.hpp"

namespace sluice {

/// Returns the plan with moves for these gaps. With CopyMode::synchronous, a device computes nothing and makes no other
/// move during a move. If `in_turn` is true, no action of the plan overlaps another action.
Plan with_waiting(Plan plan, const PlacedPrices& prices, const PlacedKinds& placed,
                  std::vector<WaitingGap> gaps, CopyMode mode, bool in_turn);

/// Returns a lower bound of the seconds of a plan: each stream executes its actions one after the other. With
/// CopyMode::synchronous, the computations and the moves of a device also run one after the other.
double busy_seconds(const Plan& plan, CopyMode mode);

/// The plans with waiting tensors that are tried for a placed plan. The placed plan is made when the first of them is
/// asked for.
class WaitingTensors {
 public:
  /// `base` returns the placed plan, perhaps with moves of weights. The other arguments must outlive the object.
  WaitingTensors(PlacedPrices& prices, const PlacedKinds& placed, std::function<Plan()> base,
                 CopyMode mode, bool in_turn);

  /// How many plans are tried at most.
  static constexpr std::size_t most = 4;
  /// Returns plan number n. The numbers must be asked for in order. Returns nothing if there are fewer plans, if the plan
  /// surely takes `worth` seconds or more, or if no plan is faster than the placed plan. A plan that needs more bytes of
  /// a first memory than it has, counted in listing order, does not count.
  std::optional<Plan> plan(std::size_t n, double worth);

 private:
  void choose();
  bool fits(const Plan& base, const WaitingGaps::Choice& choice) const;
  bool has_room(const Plan& base) const;

  PlacedPrices& prices_;
  const PlacedKinds& placed_;
  std::function<Plan()> make_base_;
  CopyMode mode_;
  bool in_turn_;
  bool asked_ = false;
  std::optional<Plan> base_;
  std::vector<std::vector<WaitingGap>> choices_;
};

}  // namespace sluice
