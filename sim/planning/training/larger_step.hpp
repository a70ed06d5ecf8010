// Places the loads of a training step like the loads of a larger step. In the larger step, each batch has one more
// micro-batch. Without this micro-batch, the larger step is the step itself. So each order of loads that is tried for
// the larger step can also be the order of this step. If no transfers share a link, this step then takes at most as
// long as the larger step. But the larger step itself may take its order from a step that is still larger. For this
// step, such an order is not tried.
#pragma once

#include <optional>
#include <vector>

#include "planning/training/training.hpp"

namespace sluice {

class LargerStep {
 public:
  /// `request` and `order` are those of the smaller step, and `order.in_flight` has a value. Returns the order of the
  /// larger step. Returns nothing if a batch of the larger step needs one pass more than a batch of the smaller step,
  /// because then the additional micro-batch does not join a pass of the smaller step. Also returns nothing if the
  /// order says that weights stay on the device, or if loads have no places to choose, because there is no overlap.
  static std::optional<TrainingOrder> larger_order(const PolicyRequest& request,
                                                   const TrainingOrder& order);

  /// `request` is the request of the smaller step. `larger` is the result of larger_order().
  LargerStep(const PolicyRequest& request, const TrainingOrder& larger);

  /// Returns the most bytes that a device holds in the larger step if the actions run one after the other.
  std::int64_t peak() const { return larger_.peak(); }
  /// Chooses the places of the larger step's loads within these limits. Returns the places that follow for the smaller
  /// step's loads. A load that is listed before an operation of the additional micro-batch is listed before the
  /// operation after it. In the result, `Offer::most` is the number of bytes that is enough for the larger step.
  ChosenStep::Offer offer(const ChosenStep::EarlyLoadLimits& limits) const;

 private:
  bool is_additional(std::int32_t micro_batch) const;
  /// Returns how many operations of the smaller step are before this operation of the larger step. Operations with a
  /// negative number belong to earlier rounds. For them, the result is negative, too.
  std::int64_t operations_before(std::int64_t operation) const;

  PolicyRequest request_;
  TrainingOrder order_;
  ChosenStep larger_;
  std::int64_t per_batch_;  ///< the number of micro-batches per batch of the larger step
  std::vector<std::int64_t>
      before_;  ///< indexed by operation; the last element is the number of all operations
};

}  // namespace sluice
