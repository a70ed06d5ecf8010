// The seconds that a training plan takes: what candidates for its fates are compared by.
#pragma once

#include <cstdint>
#include <string>

#include "plan/plan.hpp"

namespace sluice {

/// Gives the pool of a device so many bytes, enforced.
void stay_within(Plan& plan, const std::string& device, std::int64_t bytes);

/// Seconds of the whole run of a plan; infinity where it blocks. Long runs are replayed until an
/// iteration is the one before, only later, in everything that happens in it: all further ones are
/// then the same. Throws Interrupted on a signal.
double run_seconds(Plan& plan);

}  // namespace sluice
