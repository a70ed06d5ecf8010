// The list of the compiled-in policies, for code in sim/policy only. Other code uses policy_catalog(), which also has
// the policies that are added while the program runs.
#pragma once

#include <vector>

#include "policy/policy.hpp"

namespace sluice {

std::vector<const Policy*> compiled_in_policies();

}  // namespace sluice
