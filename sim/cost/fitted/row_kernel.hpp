// Turns a row of a profile into a kernel.
#pragma once

#include <optional>

#include "cost/fitted/kernel.hpp"
#include "profile/profile.hpp"

namespace sluice {

/// Returns the class, such as "linear", "conv" or "grouped_conv". It is empty if the class is not known.
std::string class_of_row(const ProfileRow& row);

/// Returns the kernel of a row whose operator is of the class `of`. It is computed from the row's sizes. If the row has
/// none, it is computed from the configuration and the shapes of the inputs. `size` is the bytes of an element. Returns
/// nothing if the row does not say enough.
std::optional<Kernel> kernel_of(const ProfileRow& row, const std::string& of, double size);

}  // namespace sluice
