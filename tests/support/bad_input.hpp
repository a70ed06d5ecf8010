// Helpers for tests of bad input: the message of an error.
#pragma once

#include <string>

#include "base/error.hpp"

namespace sluice::test {

/// Returns the whole message of the Error that `action` throws after its exit code, for example "3 a.yaml:1:2: …".
/// Returns "nothing" if `action` throws no error.
template <class Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return std::to_string(error.exit_code()) + " " + error.what();
  }
  return "nothing";
}

}  // namespace sluice::test
