// A digest of a training step. Different strategies for fates may lead to the same step, for example if a model has
// nothing that selective recomputation could make again. The ways to list this step need to be simulated only once.
#pragma once

#include <string>

#include "planning/program.hpp"

namespace sluice {

/// Returns a digest of everything in the program on which the plan depends, apart from the choice
/// of early loads. Programs with equal digests give plans with equal actions and tensors, if they
/// are listed with the same devices, stages and prices.
std::string step_digest(const Program& step);

}  // namespace sluice
