// The seconds of what never happens.
#pragma once

#include <limits>

namespace sluice {

/// The seconds of a run that is not possible, or of a moment that never comes: later than every other number.
inline constexpr double never = std::numeric_limits<double>::infinity();

}  // namespace sluice
