// Turns a row of a profile into a kernel.
#pragma once

#include <optional>

#include "cost/fitted/kernel.hpp"
#include "profile/profile.hpp"

namespace sluice {

/// Returns the class of a row's operator, such as "linear", "conv" or "grouped_conv". The result is empty if the class
/// is not known.
std::string class_of_row(const ProfileRow& row);

/// Returns the kernel of a row whose operator is of the class `of`. The kernel is computed from the sizes in the row.
/// If the row has no sizes, the kernel is computed from the configuration and the shapes of the inputs. Parameter
/// `size` is the number of bytes of an element. Returns nullopt if the row also lacks the configuration or the shapes.
std::optional<Kernel> kernel_of(const ProfileRow& row, const std::string& of, double size);

}  // namespace sluice
