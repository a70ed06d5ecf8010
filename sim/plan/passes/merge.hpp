// Joins several plans for the same platform into one. The
// plans run at the same time and share only pools and links.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// Pools, links and routes with equal names become one. Streams, actions and tensors
/// get the name of the part as a prefix (`gpu0/`). Only weights with a shared home
/// stay one tensor, because every replica reads the same weights. All parts must have
/// the same number of iterations, or no iterations; otherwise InternalError is thrown.
Plan merge(const std::vector<Plan>& parts, const std::vector<std::string>& names);

}  // namespace sluice
