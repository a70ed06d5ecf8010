// The headline of a message that has several lines.
#pragma once

#include <string>

namespace sluice {

/// The first line of a message, without the colon that announces further lines.
std::string headline_of(const std::string& message);

}  // namespace sluice
