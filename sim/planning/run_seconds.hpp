// The seconds that a plan takes: what candidates are compared by.
#pragma once

#include <cstdint>
#include <string>

#include "plan/plan.hpp"

namespace sluice {

/// The plan is granted no more than so many bytes of a device.
void stay_within(Plan& plan, const std::string& device, std::int64_t bytes);

/// Seconds of the whole run of a plan; infinity where it blocks. Throws Interrupted on a signal.
double run_seconds(const Plan& plan);

}  // namespace sluice
