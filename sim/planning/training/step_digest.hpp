// A digest of a training step. Different strategies for fates may lead to the same step, for example if
// selective recomputation has nothing to compute again. Then the plans for this step are simulated only once.
#pragma once

#include <string>

#include "planning/program.hpp"

namespace sluice {

/// Returns a digest of the operations, instances and places of the program. The choice of early loads does not count.
/// Compare only programs of one training: with the same cut, devices, rounds, passes and prices. If their digests are
/// equal, their plans have equal actions and tensors. The digest leaves out properties that are equal for all programs
/// of one training. Two examples are the number of rounds, and whether the place of a tensor is on the device.
std::string step_digest(const Program& step);

}  // namespace sluice
