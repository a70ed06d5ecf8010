// The seconds of a plan, by which candidates are compared.
#pragma once

#include <cstdint>
#include <string>

#include "plan/plan.hpp"

namespace sluice {

/// The plan may use no more than this many bytes of a device.
void stay_within(Plan& plan, const std::string& device, std::int64_t bytes);

/// Seconds of the whole run of a plan; infinity where it blocks. Throws Interrupted on a signal.
double run_seconds(const Plan& plan);

/// The same for a plan whose device memories are unlimited, where memories that no device owns are
/// limited: infinity where it needs more of them than there is.
double run_seconds_in_host(const Plan& plan);

/// Limits the memories that no device owns.
void enforce_host(Plan& plan);

}  // namespace sluice
