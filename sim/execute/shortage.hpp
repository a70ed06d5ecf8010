// Describes why a plan cannot run. The description is a data structure, which --json, Python and
// studies use.
#pragma once

#include "base/error.hpp"
#include "execute/deadlock.hpp"
#include "plan/plan.hpp"

namespace sluice {

/// Returns the capacity of the pool, and the bytes that these tensors need: their sum, and the bytes of each tensor
/// class.
Shortage shortage_in(const Plan& plan, std::uint32_t pool,
                     const std::vector<std::uint32_t>& tensors);

/// Returns which actions wait, and for which action or pool each of them waits. If actions wait for memory, let `first`
/// be the first of them. Then the result also has the bytes of the tensors in the pool that `first` waits for, and of
/// the tensors that `first` would allocate there.
Shortage shortage_of(const Plan& plan, const Deadlock& blocking);

}  // namespace sluice
