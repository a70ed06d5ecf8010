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
  bool far = false;  ///< the slow one is reached over a link only
  PlacementProblem::Rates synchronous, asynchronous, cache;
  /// Of kernels that read and write slow memory in place, as measurements of them say: these bytes
  /// come on top of their time with everything in fast memory. None: as the cost model prices it.
  std::optional<PlacementProblem::Rates> in_place = {};
};

/// The first device that reaches two memories itself, and its first two; where no device does, the
/// first device and host memory behind its link. `device`: its name; empty: whichever it is. Throws
/// InputError: there is no such device, or no rate between its memories.
TwoMemories two_memories(const Platform& platform, const std::string& device);

}  // namespace sluice
