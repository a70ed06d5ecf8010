// Finds the memory of a device in the document of a scenario.
#pragma once

#include "cost/memory_seconds.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

/// Throws InputError with the message of `missing`. Its position is the memory in the platform of the scenario.
[[noreturn]] void fail_at_memory(const Scenario& scenario, const MissingRate& missing);

}  // namespace sluice
