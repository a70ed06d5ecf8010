// What a plan lacks that cannot run. It is data for --json, Python and studies.
#pragma once

#include "base/error.hpp"
#include "execute/deadlock.hpp"
#include "plan/plan.hpp"

namespace sluice {

/// What these tensors need in a pool, by class, and how much is available there.
Shortage shortage_in(const Plan& plan, std::uint32_t pool,
                     const std::vector<std::uint32_t>& tensors);

/// Says which action waits for what. If an action waits for memory, it also says what the first such pool holds, and
/// what the first request asks for in that pool.
Shortage shortage_of(const Plan& plan, const Deadlock& blocking);

}  // namespace sluice
