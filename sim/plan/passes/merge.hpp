// Several plans for the same platform as one: they run beside each other and meet only in shared
// pools and on shared links.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// Pools, links and routes are the same where their names are. Streams, actions and tensors are
/// kept apart by the part's name, `gpu0/`; only weights whose home is shared are one tensor, since
/// every replica reads the same ones. The parts have equally many iterations (or none). Throws
/// InternalError otherwise.
Plan merge(const std::vector<Plan>& parts, const std::vector<std::string>& names);

}  // namespace sluice
