// The bound of the question for policies that may place tensors in two memories of a device.
#pragma once

#include "scenario/question_bound.hpp"

namespace sluice {

/// Returns the seconds of the forward and backward passes of all micro-batches. A pass counts with the seconds of its
/// best choice of memories. Every plan computes each pass at least once, so no plan is faster. If a pass has no price
/// in the memories of its device, the bound is 0.
QuestionBound placed_bound(const Scenario& scenario);

}  // namespace sluice
