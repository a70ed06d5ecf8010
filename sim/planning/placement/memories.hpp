// The two memories of a device between which tensors are placed, and the rates between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "placement/problem.hpp"
#include "platform/platform.hpp"

namespace sluice {

struct TwoMemories {
  const Device* device = nullptr;
  std::string fast, slow;  ///< pools
  std::optional<std::int64_t> fast_capacity, slow_capacity;
  bool far = false;  ///< whether the device reaches the slow memory only over a link
  PlacementProblem::Rates synchronous, asynchronous, cache;
  /// Measured rates at which kernels read and write slow memory without a copy. The time of these reads and writes is
  /// added to the time of the kernel with all operands in fast memory. If the rates are empty, the cost model gives the
  /// time of kernels with operands in slow memory.
  std::optional<PlacementProblem::Rates> in_place = {};
};

/// Returns the first two memories that a device reaches without a link. If the device reaches only one memory without a
/// link, the second memory is host memory. The device is the one that `device` names. If `device` is empty, the
/// function takes the first device with two memories. If no device has two memories, the function takes the first
/// device. Throws InputError if no device has the name, or if the platform has no rate between the two memories.
TwoMemories two_memories(const Platform& platform, const std::string& device);

}  // namespace sluice
