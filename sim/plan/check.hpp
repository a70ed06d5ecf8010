// The checks that every plan passes before anything is simulated.
#pragma once

#include "plan/plan.hpp"
#include "plan/replay.hpp"

namespace sluice {

/// Throws InputError where the plan contradicts itself: numbers outside the tables, names twice in
/// a section, waits that form a cycle or look into a later section, a receive without its send, a
/// tensor that is allocated twice or never released in the body (its net allocation must be zero),
/// an action without seconds or route (not lowered).
void check_structure(const Plan& plan);

/// check_structure, then a replay: throws Infeasible (pool, time, who waits for what, who holds
/// what) when the plan blocks or does not fit. As many iterations are replayed as its waits and
/// prefetches reach back, and two more: the state after them is the state after any further one.
void check(const Plan& plan);

/// Does it end? The replay of check(), as a value instead of an exception.
std::optional<Blocking> blocks(const Plan& plan);

}  // namespace sluice
