// The checks that every plan passes before anything is simulated.
#pragma once

#include <optional>

#include "execute/deadlock.hpp"
#include "plan/tables.hpp"

namespace sluice {

/// Calls check_structure (plan/structure.hpp), checks that sums fit into the numbers that hold them, and then replays
/// the plan. Throws Infeasible (with pool, time, what waits and what holds the memory) when the plan blocks or does not
/// fit. The number of replayed iterations is the number over which the plan's waits and prefetches reach, and two more.
/// These iterations are enough, for the following reasons. A grant takes no room from another request
/// (reservation.hpp), so an action that may start remains startable, and whether a plan ends does not depend on the
/// order of starts. If the actions are taken iteration by iteration, the state after these iterations is also the state
/// after any later one. (A shared pool grants in the order of time. With such a pool, the answer holds for the replayed
/// iterations only.)
void check(const Plan& plan);

/// Checks that the number of executions and the time of the whole run fit into the numbers that
/// hold them. Throws InputError.
void check_totals(const Plan& plan);

/// Does everything that check() does except its replay, and returns the plan's tables. It is for callers that replay
/// the whole plan anyway. Only check() explains why a plan blocks.
PlanTables check_without_replay(const Plan& plan);
/// Call this function for a plan whose complete replay has reached its end. Returns true if check() certainly accepts
/// the plan, too. This is not certain if the plan has shared pools and many iterations.
bool ends_if_it_ran(const Plan& plan);

/// Replays the plan as check() does, but returns the deadlock instead of throwing it. No value: the plan reaches its
/// end.
std::optional<Deadlock> blocks(const Plan& plan);

}  // namespace sluice
