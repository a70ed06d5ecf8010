// The bound of the question for policies that may place each tensor in either of two memories of a device.
#pragma once

#include "scenario/question_bound.hpp"

namespace sluice {

/// Returns the larger of two bounds. The first bound has the seconds of the forward and backward passes of all
/// micro-batches, divided by the number of devices. Each pass counts as if its tensors were in the memories where it is
/// fastest. Every plan computes each pass at least once, so no plan is faster. If a pass has no price in the memories
/// of its device, this bound is 0. The second bound has the bytes that must cross the links of host memory. It is left
/// out if a device reads or writes host memory itself. `stages` are those of question_stages().
QuestionBound placed_bound(const Scenario& scenario, const std::vector<Stage>& stages);

}  // namespace sluice
