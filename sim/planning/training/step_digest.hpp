// A digest of a training step. Different strategies for fates may lead to the same step, for example if
// selective recomputation has nothing to compute again. Then the plans for this step are simulated only once.
#pragma once

#include <string>

#include "planning/program.hpp"

namespace sluice {

/// Returns a digest of the operations, instances and places of the program, apart from the choice of early
/// loads. If two programs of one training (with the same cut, devices, rounds, passes and prices) have equal
/// digests, their plans have equal actions and tensors. The digest leaves out what all programs of one training
/// have in common, for example the number of rounds and whether the place of a tensor is on the device.
std::string step_digest(const Program& step);

}  // namespace sluice
