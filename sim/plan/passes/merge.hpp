// Joins several plans for the same platform into one: they run beside each other and meet only in
// shared pools and on shared links.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// Pools, links and routes are the same where their names are equal. Streams, actions and tensors
/// are distinguished by the name of the part (`gpu0/`); only weights whose home is shared are one
/// tensor, because every replica reads the same ones. The parts must have equally many iterations
/// (or none); otherwise InternalError.
Plan merge(const std::vector<Plan>& parts, const std::vector<std::string>& names);

}  // namespace sluice
