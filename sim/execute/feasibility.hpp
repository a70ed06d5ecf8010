// Checks that every plan must pass before it is simulated.
#pragma once

#include <optional>

#include "execute/deadlock.hpp"
#include "plan/tables.hpp"

namespace sluice {

/// Calls check_structure (plan/structure.hpp), checks that no total overflows (check_totals), and then replays the
/// plan. Throws Infeasible if the plan blocks or does not fit. The exception names the pool, the time, the actions
/// that wait, and the tensors that occupy the memory. The function replays only reach + 2 iterations. Here reach is
/// the greatest `distance` of a wait or |`ahead`| of an action. These iterations are enough for the following
/// reasons. A grant takes no room from another request (reservation.hpp). So an action that may start now may also
/// start later. The order of starts therefore does not decide whether the plan reaches its end. Suppose that the
/// actions are executed iteration by iteration. Then the state after the replayed iterations is also the state after
/// each later iteration. A shared pool is an exception, because it grants in the order of time. For a plan with a
/// shared pool, the result holds for the replayed iterations only.
void check(const Plan& plan);

/// Checks that the number of executions and the time of the whole run are small enough to be
/// counted. Throws InputError.
void check_totals(const Plan& plan);

/// Makes all checks of check() except the replay, and returns the plan's tables. This function is for callers that
/// replay the whole plan themselves. Only check() explains why a plan blocks.
PlanTables check_without_replay(const Plan& plan);
/// Call this function only after a complete replay of the plan has reached its end. Returns true if check() certainly
/// accepts the plan. Returns false if the plan has shared pools and many iterations.
bool ends_if_it_ran(const Plan& plan);

/// Replays the plan as check() does, but returns the deadlock instead of throwing an exception. Returns nullopt if the
/// plan reaches its end.
std::optional<Deadlock> blocks(const Plan& plan);

}  // namespace sluice
