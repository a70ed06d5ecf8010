// Places the loads of a training step like the loads of a larger step. In the larger step, each batch has a few more
// micro-batches. Without these micro-batches, the larger step is the step itself. So each order of loads that is tried
// for the larger step can also be the order of loads of the smaller step. If no transfers share a link, the smaller
// step then takes at most as long as the larger step.
#pragma once

#include <optional>
#include <vector>

#include "planning/training/training.hpp"

namespace sluice {

class LargerStep {
 public:
  /// Returns the order for the larger step of this request and order, whose micro-batches in flight are known. `more`
  /// is the number of additional micro-batches. Returns nothing if the batches of the larger step need more passes than
  /// those of the step, because then it is not the step with more micro-batches in a pass. Also returns nothing if the
  /// order says that weights stay on the device, or if loads have no places to choose, because there is no overlap.
  static std::optional<TrainingOrder> larger_order(const PolicyRequest& request,
                                                   const TrainingOrder& order, std::int64_t more);

  /// `request` is the request of the smaller step. `larger` is the result of larger_order() for `more`.
  LargerStep(const PolicyRequest& request, const TrainingOrder& larger, std::int64_t more);

  /// Returns how many operations the smaller step has if its rounds have as many batches as those of the larger step.
  /// If they have not, the places of the larger step are not for the smaller step.
  std::int64_t operations() const { return before_.back(); }
  /// Returns the most bytes that each device holds in the larger step if the actions run one after the other.
  const DeviceBytes& peaks() const { return larger_.peaks(); }
  /// Returns the places of the smaller step's loads, if the larger step keeps to these limits. A load that is listed
  /// before an operation of an additional micro-batch is listed before the operation after it. `most` bytes are enough
  /// for the larger step.
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
  std::int64_t more_;       ///< how many of them are additional
  std::vector<std::int64_t>
      before_;  ///< indexed by operation; the last element is the number of all operations
};

}  // namespace sluice
