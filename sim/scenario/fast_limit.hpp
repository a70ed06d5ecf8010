// The key `memory.fast` limits the fast memory of the devices: in bytes, or as a share of the bytes that are needed.
#pragma once

#include <cstdint>
#include <optional>

#include "scenario/scenario.hpp"

namespace sluice {

/// Returns the limit in bytes, or nothing if the scenario has none. A share refers to the bytes that `sluice placement`
/// calls needed. They do not depend on the policy, the cut, the fates or the platform. Throws InputError at the key.
std::optional<std::int64_t> fast_limit(const Scenario& scenario);

/// Gives the first memory of each device at most the bytes of the limit. Host memory has no limit.
void limit_fast_memory(Scenario& scenario);

}  // namespace sluice
