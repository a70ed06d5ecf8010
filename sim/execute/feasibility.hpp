// The checks that every plan passes before anything is simulated.
#pragma once

#include <optional>

#include "execute/deadlock.hpp"
#include "plan/tables.hpp"

namespace sluice {

/// check_structure (plan/structure.hpp), then sums that must fit their numbers, then a replay:
/// throws Infeasible (pool, time, who waits for what, who holds what) when the plan blocks or does
/// not fit. As many iterations are replayed as its waits and prefetches reach back, and two more: a
/// grant takes no room from another request (reservation.hpp), so that what may start stays
/// startable, and whether a plan ends does not depend on the order in which it starts. Taken
/// iteration by iteration, the state after those is the state after any further one. (A shared
/// pool grants in the order of time: there the answer is that of the iterations replayed.)
void check(const Plan& plan);

/// What is summed over a run must fit the number that holds it: executions, and the clock. Throws
/// InputError.
void check_totals(const Plan& plan);

/// All of check() but its replay, for who replays the whole plan anyway; and the plan's tables.
/// What check() says of a plan that blocks, check() alone can say.
PlanTables check_without_replay(const Plan& plan);
/// Where a replay of the whole plan came to its end, does check() pass, too? Not so sure of a plan
/// with shared pools and many iterations.
bool ends_if_it_ran(const Plan& plan);

/// Does it end? The replay of check(), as a value instead of an exception.
std::optional<Deadlock> blocks(const Plan& plan);

}  // namespace sluice
