// Describes as data why a plan cannot run, for --json, Python and studies.
#pragma once

#include "base/error.hpp"
#include "execute/deadlock.hpp"
#include "plan/plan.hpp"

namespace sluice {

/// Returns the bytes that these tensors need in a pool, by class, and the bytes that are available there.
Shortage shortage_in(const Plan& plan, std::uint32_t pool,
                     const std::vector<std::uint32_t>& tensors);

/// Returns which action waits for which action or pool. If an action waits for memory, the result also contains the
/// tensors in the first such pool, and the tensors for which the first request asks there.
Shortage shortage_of(const Plan& plan, const Deadlock& blocking);

}  // namespace sluice
