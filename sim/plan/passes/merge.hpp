// Joins several plans for one platform into a single plan. The plans run at the same time, and share only pools and
// links.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// Returns the joined plan. Pools, links, routes and streams with the same name in several parts become one. Actions,
/// tensors and collectives get the name of their part as a prefix (`gpu0/`). Weights whose home is a shared pool are
/// an exception. All replicas read them, so they are one tensor without a prefix. Throws InternalError if two parts
/// with a body have different numbers of iterations.
Plan merge(const std::vector<Plan>& parts, const std::vector<std::string>& names);

}  // namespace sluice
