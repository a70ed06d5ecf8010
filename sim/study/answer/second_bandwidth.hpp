// Finds a second memory in which no tensors are placed because the platform gives no bandwidth for it.
#pragma once

#include "scenario/scenario.hpp"

namespace sluice {

/// Returns whether the scenario lets its policy choose a placement, but the device's second memory has no bandwidth.
/// Kernels with tensors there then have no price, and `placement: auto` leaves out placements in both memories.
bool lacks_bandwidth(const Scenario& scenario, const Device& device);

}  // namespace sluice
