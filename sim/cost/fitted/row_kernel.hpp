// Turns a row of a profile into a kernel.
#pragma once

#include <optional>

#include "cost/fitted/kernel.hpp"
#include "profile/profile.hpp"

namespace sluice {

/// "linear", "conv", "grouped_conv", …; empty: the class is not known.
std::string class_of_row(const ProfileRow& row);

/// The kernel of a row whose operator is of the class `of`, from its sizes or, without them, from
/// its configuration and the shapes of its inputs. `size`: bytes of an element. None: the row does
/// not say enough.
std::optional<Kernel> kernel_of(const ProfileRow& row, const std::string& of, double size);

}  // namespace sluice
