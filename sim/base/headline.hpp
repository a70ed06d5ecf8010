// A message of several lines, in one.
#pragma once

#include <string>

namespace sluice {

/// The first line of a message, without the colon that announces more.
std::string headline_of(const std::string& message);

}  // namespace sluice
