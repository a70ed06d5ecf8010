// Finds the moment at which a training step needs the most memory, and says what fills the memory then. If the step
// does not fit, the error message lists these tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "planning/device_bytes.hpp"
#include "planning/program.hpp"
#include "planning/training/step.hpp"

namespace sluice {

struct PolicyRequest;
struct TrainingOrder;

/// The moment at which a device lacks the most bytes: during operation `operation`, device `device` holds `bytes`
/// bytes, and its memory has `capacity` bytes.
struct WorstMoment {
  std::uint32_t device = 0;
  std::int64_t bytes = 0, operation = 0, capacity = 0;
};
/// Returns the worst moment of a step on so many devices with these capacities. If no device lacks bytes, it is the
/// moment at which one of them has the fewest bytes left. The step must have at least one operation.
WorstMoment worst_moment(const Program& step, std::size_t devices, const DeviceBytes& capacities);

/// The weights, gradients and optimizer state that stay on devices.
struct Constants {
  const std::vector<StageState>& states;  ///< must outlive this object
  bool all = false;                       ///< whether those of all stages stay
  std::size_t devices = 1;                ///< how many devices take turns, as in StepShape

  /// Returns how many bytes of these tensors are on one of the devices.
  std::int64_t bytes(std::size_t device) const;
  std::int64_t bytes_of_all() const;
  std::int64_t most() const;   ///< the bytes on the device with the most of them
  std::int64_t least() const;  ///< the bytes on the device with the fewest of them
  /// Returns the bytes that a chain with Chain::devices = `memories` does not count: those on each device. If it counts
  /// the devices one by one, these are least(), because Chain::occupied has the others.
  std::int64_t not_in_chain(std::size_t memories) const {
    return memories == devices ? least() : most();
  }
  /// Returns what these tensors leave to such a chain of `bytes`, the memories of all devices together.
  std::int64_t leave_of(std::int64_t bytes, std::size_t memories) const;
};

/// Returns a shortage with the bytes at this moment, for each class of tensors. The tensors that stay on the device are
/// included. `pools` has the names of the devices.
Shortage held_at(const WorstMoment& worst, const Program& step,
                 const std::vector<std::string>& pools, const Constants& constants);

/// Returns the shortage of the device that these tensors alone fill, or of the one that lacks the most bytes for them.
/// Returns nothing if each device has room for more. `pools` has the names of the devices.
std::optional<Shortage> shortage_of_constants(const Constants& constants,
                                              const std::vector<std::string>& pools,
                                              const DeviceBytes& capacities);

/// Returns advice for a scenario that does not fit. The advice leaves out what the scenario already does.
std::string advice_to_need_less(const PolicyRequest& request, const TrainingOrder& order);

}  // namespace sluice
