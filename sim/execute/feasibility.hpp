// The checks that every plan passes before anything is simulated.
#pragma once

#include <optional>

#include "execute/deadlock.hpp"
#include "plan/tables.hpp"

namespace sluice {

/// check_structure (plan/structure.hpp), then the sums that must fit their numbers, then a replay:
/// throws Infeasible (with pool, time, what waits and what holds the memory) when the plan blocks
/// or does not fit. The replay covers as many iterations as the plan's waits and prefetches reach
/// back, and two more. That is enough: a grant takes no room from another request
/// (reservation.hpp), so what may start remains startable, and whether a plan ends does not depend
/// on the order of starts. Taken iteration by iteration, the state after those iterations is the
/// state after any further one. (A shared pool grants in the order of time; there the answer is
/// that of the replayed iterations.)
void check(const Plan& plan);

/// Checks that sums over a run fit the numbers that hold them: executions, and the clock. Throws
/// InputError.
void check_totals(const Plan& plan);

/// Everything of check() except its replay, for callers that replay the whole plan anyway; returns
/// the plan's tables. Only check() itself can explain a plan that blocks.
PlanTables check_without_replay(const Plan& plan);
/// Whether check() would also pass for a plan whose complete replay has come to its end. That is
/// not certain for a plan with shared pools and many iterations.
bool ends_if_it_ran(const Plan& plan);

/// The replay of check(), which returns the deadlock instead of throwing it; none: the plan ends.
std::optional<Deadlock> blocks(const Plan& plan);

}  // namespace sluice
