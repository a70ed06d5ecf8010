// A digest of a training step. Different strategies for fates may lead to the same step, for example if there is
// nothing that selective recomputation could compute again. Equal digests show this. Then the plans for the step are
// simulated only once.
#pragma once

#include <string>

#include "planning/program.hpp"

namespace sluice {

/// Returns a digest of the operations, instances and homes of tensors of the program, but not of where its loads are
/// listed. Only programs of one training may be compared: those with the same cut, devices, rounds, passes and prices.
/// If two of them have equal digests, their plans have equal actions and tensors. What is equal for all programs of one
/// training is left out, for example the number of rounds.
std::string step_digest(const Program& step);

}  // namespace sluice
