// The list of the compiled-in policies. Internal to sim/policy: policy_catalog() also contains the
// policies that were added while the program runs.
#pragma once

#include <vector>

#include "policy/policy.hpp"

namespace sluice {

std::vector<const Policy*> compiled_in_policies();

}  // namespace sluice
