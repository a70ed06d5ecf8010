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

/// The same of a plan whose memories have no end, where those that no device owns do have one:
/// infinity where it takes more of them than there is.
double run_seconds_in_host(const Plan& plan);

/// Has memories end that no device owns.
void enforce_host(Plan& plan);

}  // namespace sluice
