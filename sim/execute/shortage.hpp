// Describes as a data structure why a plan cannot run, for --json, Python and studies.
#pragma once

#include "base/error.hpp"
#include "execute/deadlock.hpp"
#include "plan/plan.hpp"

namespace sluice {

/// Returns the bytes that these tensors need in a pool, by class, and the bytes that are available in this pool.
Shortage shortage_in(const Plan& plan, std::uint32_t pool,
                     const std::vector<std::uint32_t>& tensors);

/// Returns which actions wait, and for which actions or pools. If an action waits for memory, the result also contains
/// the tensors in the first pool with a waiting action. The result also contains the tensors that the first request in
/// this pool would allocate.
Shortage shortage_of(const Plan& plan, const Deadlock& blocking);

}  // namespace sluice
