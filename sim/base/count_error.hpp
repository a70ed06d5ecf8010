// The error of a count that 64 bits cannot hold. A question with such a count needs more than any machine has.
#pragma once

#include "base/error.hpp"

namespace sluice {

/// Thrown by checked_add() and checked_mul(), and by checks of plans.
struct CountError : InputError {
  using InputError::InputError;
  explicit CountError(const InputError& error) : InputError(error) {}
};

}  // namespace sluice
