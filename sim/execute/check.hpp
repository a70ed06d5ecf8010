// The checks that every plan passes before anything is simulated.
#pragma once

#include <optional>

#include "execute/blocking.hpp"
#include "plan/plan.hpp"

namespace sluice {

/// check_structure (plan/check.hpp), then sums that must fit their numbers, then a replay: throws
/// Infeasible (pool, time, who waits for what, who holds what) when the plan blocks or does not
/// fit. As many iterations are replayed as its waits and prefetches reach back, and two more: the
/// state after them is the state after any further one.
void check(const Plan& plan);

/// Does it end? The replay of check(), as a value instead of an exception.
std::optional<Blocking> blocks(const Plan& plan);

}  // namespace sluice
