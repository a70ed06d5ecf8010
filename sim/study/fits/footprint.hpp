// The footprint of a plan: the bytes that a device's memory holds at the first moment of its peak.
#pragma once

#include "plan/plan.hpp"
#include "study/fits/fits.hpp"

namespace sluice {

/// Returns the footprint of a plan whose actions run one at a time.
Footprint footprint_of(const Plan& plan, const std::string& memory, std::int64_t samples);

}  // namespace sluice
