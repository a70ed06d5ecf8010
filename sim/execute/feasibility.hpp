// The checks that every plan passes before anything is simulated.
#pragma once

#include <optional>

#include "execute/deadlock.hpp"
#include "plan/plan.hpp"

namespace sluice {

/// check_structure (plan/structure.hpp), then sums that must fit their numbers, then a replay:
/// throws Infeasible (pool, time, who waits for what, who holds what) when the plan blocks or does
/// not fit. As many iterations are replayed as its waits and prefetches reach back, and two more: a
/// grant takes no room from another request (reservation.hpp), so that what may start stays
/// startable, and whether a plan ends does not depend on the order in which it starts. Taken
/// iteration by iteration, the state after those is the state after any further one. (A shared
/// pool grants in the order of time: there the answer is that of the iterations replayed.)
void check(const Plan& plan);

/// Does it end? The replay of check(), as a value instead of an exception.
std::optional<Deadlock> blocks(const Plan& plan);

}  // namespace sluice
