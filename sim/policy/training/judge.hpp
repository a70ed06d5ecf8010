// The seconds that a training plan takes: what candidates for its fates are compared by.
#pragma once

#include <cstdint>
#include <optional>

#include "plan/plan.hpp"

namespace sluice {

/// Seconds of the whole run of a plan whose pool `device` has `capacity` bytes; infinity where it
/// blocks. Long runs are replayed until an iteration is the one before, only later, in everything
/// that happens in it: all further ones are then the same. Throws Interrupted on a signal.
double run_seconds(Plan& plan, const std::string& device, std::optional<std::int64_t> capacity);

}  // namespace sluice
