// A row of a profile as a kernel.
#pragma once

#include <optional>

#include "cost/fitted/kernel.hpp"
#include "profile/profile.hpp"

namespace sluice {

/// "linear", "conv", "grouped_conv", …; empty: none that is known.
std::string class_of_row(const ProfileRow& row);

/// Of a row whose operator is of the class `of`, by its sizes, else by its configuration and the
/// shapes of its inputs. `size`: bytes of an element. None: the row does not say enough.
std::optional<Kernel> kernel_of(const ProfileRow& row, const std::string& of, double size);

}  // namespace sluice
