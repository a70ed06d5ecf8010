// Takes the figures that a fit needs from a device of a platform.
#pragma once

#include "cost/fitted/form.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// Throws InputError if the device does not give a figure that the form needs.
Sheet sheet_of(const Device& device, DType dtype);

}  // namespace sluice
