// Describes the fast and the slow memory of a device, and the rates between them, for a search that places each tensor
// in one of the two memories.
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
  /// The rates of moves. If no links join the two memories of the device, no tensor moves, and the rates are infinite.
  PlacementProblem::Rates synchronous, asynchronous;
  PlacementProblem::Rates cache;
  bool joined = true;  ///< whether links lead from each of the two memories to the other
  /// Measured rates at which kernels read and write slow memory directly, without a copy to fast memory. A kernel's
  /// time with all operands in fast memory becomes longer by the time of these reads and writes. If `in_place` is
  /// empty, the cost model gives the time of a kernel with operands in slow memory.
  std::optional<PlacementProblem::Rates> in_place = {};
};

/// Returns the first two memories that a device reaches without a link. If it reaches only one, the second memory is
/// host memory. `device` names the device. If `device` is empty, the first device with two memories is taken. If no
/// device has two memories, the first device is taken. Throws InputError if the name is unknown, or if the device reaches
/// only one memory, with and without links.
TwoMemories two_memories(const Platform& platform, const std::string& device);

}  // namespace sluice
