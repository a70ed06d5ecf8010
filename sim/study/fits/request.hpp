// Makes the scenario for one card from a request to `fits`.
#pragma once

#include "scenario/scenario.hpp"
#include "study/fits/fits.hpp"

namespace sluice {

/// Returns a platform of one device with unlimited memory, for a request that names no platform.
Value unlimited_platform(const std::string& dtype);

/// Returns the scenario for `platform`, with a batch of one sample. The search sets the batch later. Throws InputError.
/// Throws UsageError if an override sets a key that the search sets itself, or that has an option of its own.
Scenario scenario_of(const FitsRequest& request, Value platform);

}  // namespace sluice
