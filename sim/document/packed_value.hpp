// Turns a value into a byte string and back, with the positions of all its parts. So a process can send a part of a
// document to another process, whose error messages name the same positions.
#pragma once

#include <string>
#include <string_view>

#include "document/value.hpp"

namespace sluice {

std::string packed(const Value& value);

/// Throws InternalError if `bytes` is not the result of packed().
Value value_from(std::string_view bytes);

}  // namespace sluice
