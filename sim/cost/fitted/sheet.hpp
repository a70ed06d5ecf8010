// The data sheet of a platform's device, as a fit needs it.
#pragma once

#include "cost/fitted/form.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// Throws InputError where the device does not say a figure that the form needs.
Sheet sheet_of(const Device& device, DType dtype);

}  // namespace sluice
