// The simulated seconds of a plan, by which candidates are compared.
#pragma once

#include <cstdint>
#include <string>

#include "plan/plan.hpp"

namespace sluice {

/// Limits the plan to this many bytes of a device.
void stay_within(Plan& plan, const std::string& device, std::int64_t bytes);

/// Returns the simulated seconds of a plan's run. They are infinite if the run blocks. Throws Interrupted on a signal.
double run_seconds(const Plan& plan);

/// Returns the simulated seconds of a plan's run if device memories are unlimited. Memories that no device owns (host
/// memory) keep their capacity: the result is infinite if the plan needs more of them.
double run_seconds_in_host(const Plan& plan);

/// Limits the memories that no device owns.
void enforce_host(Plan& plan);

}  // namespace sluice
