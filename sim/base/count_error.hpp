// The error that says that a count does not fit into 64 bits. No machine can store so many bytes or compute so many
// operations.
#pragma once

#include "base/error.hpp"

namespace sluice {

/// Thrown by checked_add() and checked_mul(), and by checks of plans.
struct CountError : InputError {
  using InputError::InputError;
  explicit CountError(const InputError& error) : InputError(error) {}
};

}  // namespace sluice
