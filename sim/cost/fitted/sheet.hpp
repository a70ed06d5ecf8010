// A platform's device as the data sheet that a fit is about.
#pragma once

#include "cost/fitted/form.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// Throws InputError where the device does not say a figure that the form needs.
Sheet sheet_of(const Device& device, DType dtype);

}  // namespace sluice
