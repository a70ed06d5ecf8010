// From what `fits` is asked to the scenario of one card.
#pragma once

#include "scenario/scenario.hpp"
#include "study/fits/fits.hpp"

namespace sluice {

/// A device without limit, for a request that names no platform.
Value unlimited_platform(const std::string& dtype);

/// Of one sample; the batch is set by who searches. Throws InputError, and UsageError for an
/// override of what is searched or has a place of its own in the request.
Scenario scenario_of(const FitsRequest& request, Value platform);

}  // namespace sluice
