// A digest of a plan, by which equal plans are found.
#pragma once

#include <string>

#include "plan/plan.hpp"

namespace sluice {

/// Returns a text that is the same for plans whose runs are equal on every machine with the same routes. Names and
/// facts do not count, and neither do the bandwidths of links. Different plans practically never have the same text.
std::string run_digest(const Plan& plan);

}  // namespace sluice
