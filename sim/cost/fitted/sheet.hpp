// Makes a data sheet, which a fit needs, from a device of a platform.
#pragma once

#include "cost/fitted/form.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// Returns the data sheet of the device. Throws InputError if the device lacks a figure that the form needs.
Sheet sheet_of(const Device& device, DType dtype);

}  // namespace sluice
