// A helper for tests of bad input: it returns the exit code and the message of an error.
#pragma once

#include <string>

#include "base/error.hpp"

namespace sluice::test {

/// Returns the exit code and the whole message of the Error that `action` throws, for example "3 a.yaml:1:2: …".
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
