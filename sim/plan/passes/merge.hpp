// Merges several plans for one platform into a single plan. The merged plan does the work of all of them at the same
// time. The plans get no waits for each other's actions. An action of one plan delays an action of another plan only at
// a pool, link or stream that both use.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// Returns the merged plan. `parts` are the plans, and `names` are their names. If several parts have a pool, link,
/// route or stream with the same name, the merged plan has only one with this name. Actions, tensors and collectives
/// get the name of their part as a prefix, such as `gpu0/`. But all replicas read the same weights from a shared pool.
/// So weights whose home is a shared pool have no prefix, and the merged plan has them once. The exception are weights
/// that a part copies to a shared pool: each part needs a copy of its own there. Throws InternalError if two parts with a
/// body have different numbers of iterations.
Plan merge(const std::vector<Plan>& parts, const std::vector<std::string>& names);

}  // namespace sluice
