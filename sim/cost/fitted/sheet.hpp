// Makes the data sheet of a platform's device, in the form that a fit needs.
#pragma once

#include "cost/fitted/form.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// Returns the data sheet of the device. Throws InputError if the device lacks a figure that the form needs.
Sheet sheet_of(const Device& device, DType dtype);

}  // namespace sluice
