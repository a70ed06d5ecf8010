// Makes the scenario of one card from a request to `fits`.
#pragma once

#include "scenario/scenario.hpp"
#include "study/fits/fits.hpp"

namespace sluice {

/// Returns a device without limits, for a request that names no platform.
Value unlimited_platform(const std::string& dtype);

/// Returns the scenario for one sample. The search sets the batch later. Throws InputError. Some keys are set by the
/// search or have their own options. Throws UsageError for an override of such a key.
Scenario scenario_of(const FitsRequest& request, Value platform);

}  // namespace sluice
