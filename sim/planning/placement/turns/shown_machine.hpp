// Shown machines: made-up machines for which a policy plans whose tensors are then placed in two memories. Each device
// of a shown machine that computes has all tensors in a single memory (placed_turns.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planning/placement/computing_devices.hpp"
#include "planning/request.hpp"

namespace sluice {

/// Returns the sizes of the memories of the shown machines, the greatest first. They do not depend on the capacities of
/// the real memories.
std::vector<std::int64_t> shown_sizes(const PolicyRequest& request, const ComputingDevices& on);
/// Returns whether the two memories of each device together may hold `bytes` bytes.
bool both_may_hold(const PolicyRequest& request, const ComputingDevices& on, std::int64_t bytes);
/// Returns the greatest number of sizes that shown_sizes() returns.
std::int64_t most_shown_sizes(const PolicyRequest& request);

/// How fast the memories of a shown machine are: each has the rates of the real device's memory with the index
/// `memory`. With `far`, copies to them and from them take at least the latency and the set-up of copies to and from
/// the second memory. A plan then loads weights as early as the second memory needs them.
struct ShownRates {
  std::size_t memory = 0;
  bool far = false;
  auto operator<=>(const ShownRates&) const = default;
};
/// Returns the rates that are shown for these devices. If all tensors are in the second memory (`all_slow`), all copies
/// go there.
std::vector<ShownRates> shown_rates(const Platform& platform,
                                    const std::vector<std::string>& devices, bool all_slow);

/// A machine whose `devices` have all tensors in their first memories. These memories have `bytes` bytes each.
struct ShownMachine {
  ShownMachine(const PolicyRequest& asked, const std::vector<std::string>& devices,
               std::int64_t bytes, ShownRates rates);
  ShownMachine(const ShownMachine&) = delete;

  Platform platform;
  PolicyRequest request;  ///< refers to `platform`
};

}  // namespace sluice
