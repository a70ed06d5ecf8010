// The error of a count that 64 bits cannot hold. What was asked for is then larger than any machine.
#pragma once

#include "base/error.hpp"

namespace sluice {

/// Thrown by checked_add() and checked_mul().
struct CountError : InputError {
  using InputError::InputError;
};

}  // namespace sluice
