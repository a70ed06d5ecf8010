// Finds the moment at which a training step needs the most memory, and the bytes at this moment. The message for a step
// that does not fit lists these bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "planning/program.hpp"
#include "planning/training/step.hpp"

namespace sluice {

/// The device that holds the most bytes. It holds `bytes` bytes during operation `operation`.
struct WorstMoment {
  std::uint32_t device = 0;
  std::int64_t bytes = 0, operation = 0;
};
/// Returns the worst moment of a step. The step must have at least one operation.
WorstMoment worst_moment(const Program& step, std::size_t devices);

/// Returns the bytes that are needed at this moment, by class. The caller sets `pool` and `available_bytes`.
Shortage held_at(const WorstMoment& worst, const Program& step);

/// Adds the bytes of tensors that stay to their classes in `shortage`: weights, gradients and optimizer state.
void add_constants(Shortage& shortage, const std::vector<StageState>& states);

/// Returns the bytes of the weights that stay, together with the bytes of their gradients and optimizer state.
std::int64_t constant_bytes(const std::vector<StageState>& states);

}  // namespace sluice
