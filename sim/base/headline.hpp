// The headline of a message: its first line.
#pragma once

#include <string>

namespace sluice {

/// Returns the first line of a message. If this line ends with a colon, the colon is left out.
std::string headline_of(const std::string& message);

}  // namespace sluice
