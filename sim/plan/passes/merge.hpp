// Joins several plans for one platform into a single plan. The plans run at the same time, and share only pools and
// links.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// Returns the joined plan. Of pools, links, routes or streams with equal names, the joined plan has only one. Actions,
/// tensors and collectives get the name of the part as a prefix (`gpu0/`). Weights whose home is a shared pool get no
/// prefix and become one tensor, because all replicas read these weights. Throws InternalError if the numbers of
/// iterations of the parts differ. A part without a body may have any number of iterations.
Plan merge(const std::vector<Plan>& parts, const std::vector<std::string>& names);

}  // namespace sluice
