// Makes the scenario of one card from a request to `fits`.
#pragma once

#include "scenario/scenario.hpp"
#include "study/fits/fits.hpp"

namespace sluice {

/// Returns a device without limits, for a request that names no platform.
Value unlimited_platform(const std::string& dtype);

/// Returns the scenario for one sample. The search sets the batch later. Throws InputError. Throws UsageError for an
/// override of a key that the search sets, or that has its own option.
Scenario scenario_of(const FitsRequest& request, Value platform);

}  // namespace sluice
