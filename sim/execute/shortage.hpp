// Describes why a plan cannot run. The description is a data structure, which --json, Python and
// studies use.
#pragma once

#include "base/error.hpp"
#include "execute/deadlock.hpp"
#include "plan/plan.hpp"

namespace sluice {

/// Returns the bytes that the pool has, and the bytes that these tensors need, also by tensor class.
Shortage shortage_in(const Plan& plan, std::uint32_t pool,
                     const std::vector<std::uint32_t>& tensors);

/// Returns which actions wait, and for which action or pool each of them waits. If an action waits for memory, the
/// result also has the bytes of the tensors in the pool that the first such action waits for. The tensors that this
/// action would allocate there are included.
Shortage shortage_of(const Plan& plan, const Deadlock& blocking);

}  // namespace sluice
