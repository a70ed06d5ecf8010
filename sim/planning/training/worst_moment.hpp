// Finds the moment at which a training step needs the most memory, and says what fills the memory then. If the step
// does not fit, the error message lists these tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "planning/program.hpp"
#include "planning/training/step.hpp"

namespace sluice {

struct PolicyRequest;
struct TrainingOrder;

/// The moment at which a device holds the most bytes: during operation `operation`, device `device` holds `bytes`
/// bytes.
struct WorstMoment {
  std::uint32_t device = 0;
  std::int64_t bytes = 0, operation = 0;
};
/// Returns the worst moment of a step. The step must have at least one operation.
WorstMoment worst_moment(const Program& step, std::size_t devices);

/// The stages whose weights, gradients and optimizer state may stay on devices.
struct StatesOfStages {
  const std::vector<StageState>& states;
  bool all_stay;  ///< whether all of these tensors stay
};

/// Returns a shortage with the bytes at this moment, for each class of tensors. The tensors that stay on the device are
/// included. The caller must still set `available_bytes`.
Shortage held_at(const WorstMoment& worst, const Program& step,
                 const std::vector<std::string>& devices, const StatesOfStages& stages);

/// Returns the shortage of a device, called `pool`, whose capacity is not enough for the tensors that stay.
Shortage shortage_of_constants(const StatesOfStages& stages, const std::string& pool,
                               std::int64_t capacity);

/// Returns advice for a scenario that does not fit. The advice leaves out what the scenario already does.
std::string advice_to_need_less(const PolicyRequest& request, const TrainingOrder& order);

/// Returns how many bytes these tensors have together.
std::int64_t constant_bytes(const std::vector<StageState>& states, bool all);

}  // namespace sluice
