// The list of the policies that are compiled in. Internal to sim/policy: policy_catalog() has those
// that were added while the program runs, too.
#pragma once

#include <vector>

#include "policy/policy.hpp"

namespace sluice {

std::vector<const Policy*> compiled_in_policies();

}  // namespace sluice
