// The bound of the question for policies that may place tensors in two memories of a device.
#pragma once

#include "scenario/question_bound.hpp"

namespace sluice {

/// Returns the seconds of the forward and backward passes of all micro-batches. Each pass counts with the least time
/// that it takes for any choice of memories for its tensors. No plan is faster, because every plan computes each pass
/// at least once, and no other choice of memories makes a pass faster. The bound is 0 if a pass has no price in the
/// memories of its device.
QuestionBound placed_bound(const Scenario& scenario);

}  // namespace sluice
