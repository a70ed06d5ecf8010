// What a training step holds at its worst moment: for the message that it does not fit.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "planning/program.hpp"
#include "planning/training/step.hpp"

namespace sluice {

/// The device that holds most, and during which operation.
struct WorstMoment {
  std::uint32_t device = 0;
  std::int64_t bytes = 0, operation = 0;
};
/// Of a step with at least one operation.
WorstMoment worst_moment(const Program& step, std::size_t devices);

/// The bytes that are needed then, by class; which pool that is, and what it has, the caller knows.
Shortage held_at(const WorstMoment& worst, const Program& step);

/// Weights that stay, with their gradients and the optimizer's state, are held, too.
void add_constants(Shortage& shortage, const std::vector<StageState>& states);

/// Their bytes.
std::int64_t constant_bytes(const std::vector<StageState>& states);

}  // namespace sluice
