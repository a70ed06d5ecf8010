// Turns a shortage into a byte string and back. So a process can send an Infeasible with its numbers to another
// process.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace sluice {

std::string packed(const Shortage& shortage);

/// Throws InternalError if `bytes` is not the result of packed().
Shortage shortage_from(std::string_view bytes);

}  // namespace sluice
