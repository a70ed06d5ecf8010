// Joins several plans for one platform into a single plan. The plans run at the same time, and share only pools and
// links.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// Returns the joined plan. If several parts have a pool, link, route or stream with the same name, the joined plan has
/// it only once. Actions, tensors and collectives get the name of their part as a prefix (`gpu0/`). Weights whose home
/// is a shared pool are one tensor without a prefix, because all replicas read them. Throws InternalError if two parts
/// with a body have different numbers of iterations.
Plan merge(const std::vector<Plan>& parts, const std::vector<std::string>& names);

}  // namespace sluice
