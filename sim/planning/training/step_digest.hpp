// A digest of a training step. Different strategies for fates may lead to the same step, for example if a model has
// nothing that selective recomputation could make again. The ways to list this step need to be simulated only once.
#pragma once

#include <string>

#include "planning/program.hpp"

namespace sluice {

/// Returns a digest of the operations, instances and places of the program, apart from the choice of early loads. Two
/// programs of one training (with the same cut, devices, rounds, passes and prices) that have equal digests give plans
/// with equal actions and tensors. The digest leaves out what such programs always have in common, for example the
/// number of rounds and whether the place of a tensor is on the device.
std::string step_digest(const Program& step);

}  // namespace sluice
