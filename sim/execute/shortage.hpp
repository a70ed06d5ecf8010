// Describes why a plan cannot run, in a data structure for --json, Python and studies.
#pragma once

#include "base/error.hpp"
#include "execute/deadlock.hpp"
#include "plan/plan.hpp"

namespace sluice {

/// Returns the bytes of the pool, and for each tensor class the bytes of these tensors.
Shortage shortage_in(const Plan& plan, std::uint32_t pool,
                     const std::vector<std::uint32_t>& tensors);

/// Returns which actions wait, and for which action or pool each of them waits. If actions wait for memory, the
/// result also names tensors of the first such pool. These are the tensors in the pool, and the tensors that the
/// first waiting request would allocate there.
Shortage shortage_of(const Plan& plan, const Deadlock& blocking);

}  // namespace sluice
