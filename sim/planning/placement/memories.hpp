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
  bool far = false;  ///< the slow memory can be reached only over a link
  PlacementProblem::Rates synchronous, asynchronous, cache;
  /// Measured rates of kernels that read and write slow memory in place. The time of these bytes is added to the time
  /// of the kernel with everything in fast memory. If this is empty, the cost model prices such kernels.
  std::optional<PlacementProblem::Rates> in_place = {};
};

/// Returns the first device that reaches two memories itself, with the first two of them. If no device does, it returns
/// the first device and host memory, which the device reaches over a link. `device` is the name of the device to take;
/// if empty, any device. Throws InputError when there is no such device, or no rate between its memories.
TwoMemories two_memories(const Platform& platform, const std::string& device);

}  // namespace sluice
