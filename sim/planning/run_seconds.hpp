// The simulated seconds of a plan, by which candidates are compared.
#pragma once

#include <cstdint>
#include <string>

#include "plan/plan.hpp"

namespace sluice {

/// Limits the plan to `bytes` bytes in each memory that only this device has.
void stay_within(Plan& plan, const std::string& device, std::int64_t bytes);

/// Returns the simulated seconds of a plan's run, or infinity if the run blocks. Throws Interrupted on a signal.
double run_seconds(const Plan& plan);

/// Returns the simulated seconds of a plan's run if device memories are unlimited. Memories that no device owns, such
/// as host memory, keep their capacity. The result is infinity if one of these memories is too small for the plan.
double run_seconds_in_host(const Plan& plan);

/// Enforces the capacity of memories that no device owns.
void enforce_host(Plan& plan);

}  // namespace sluice
