// What a plan that cannot run lacks, as data: for --json, Python and studies.
#pragma once

#include "base/error.hpp"
#include "execute/deadlock.hpp"
#include "plan/plan.hpp"

namespace sluice {

/// What those tensors need of a pool, by class, and what there is of it.
Shortage shortage_in(const Plan& plan, std::uint32_t pool,
                     const std::vector<std::uint32_t>& tensors);

/// Who waits for what; where somebody waits for memory, the first such pool: what it holds and what
/// the first request asks for in it.
Shortage shortage_of(const Plan& plan, const Deadlock& blocking);

}  // namespace sluice
