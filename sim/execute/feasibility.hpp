// Before a plan is simulated, it must pass the checks of this file.
#pragma once

#include <optional>

#include "execute/deadlock.hpp"
#include "plan/tables.hpp"

namespace sluice {

/// Calls check_structure (plan/structure.hpp) and check_totals, and then replays the plan. Throws Infeasible if the
/// plan blocks or does not fit. The exception names the pool, the time, the actions that wait, and the tensors that
/// occupy the memory. Let `reach` be the greatest number among the distances of all waits and the |`ahead`| of all
/// actions. The function replays at most the first `reach` + 2 iterations. These iterations are enough for the
/// following reasons. A grant takes no room from another request (reservation.hpp). So an action that may start now may
/// still start later. Therefore the order of starts does not decide whether the plan reaches its end. So one may assume
/// that the actions are executed iteration by iteration. In this order, the state after the replayed iterations is also
/// the state after each later iteration. A shared pool is an exception, because it grants bytes in the order in which
/// they are requested. For a plan with a shared pool, the result holds for the replayed iterations only.
void check(const Plan& plan);

/// Checks that the number of executions and the time of the whole run are small enough to be counted. If they are not,
/// throws InputError.
void check_totals(const Plan& plan);

/// Makes all checks of check() except the replay, and returns the plan's tables. This function is for callers that
/// replay the whole plan themselves. If the plan blocks, such a caller calls check(), which explains why.
PlanTables check_without_replay(const Plan& plan);
/// Makes those checks of check_without_replay() whose result depends on the bytes of the pools.
void check_memory(const PlanTables& tables);
/// Call this function only after a complete replay of the plan has reached its end. Returns true if the end of this
/// replay shows that check() accepts the plan, too. Returns false if the plan has a shared pool with a limited
/// capacity, and more iterations than check() replays.
bool ends_if_it_ran(const Plan& plan);

/// Replays the plan as check() does, but returns the deadlock instead of throwing an exception. Returns nullopt if the
/// plan reaches its end.
std::optional<Deadlock> blocks(const Plan& plan);

}  // namespace sluice
