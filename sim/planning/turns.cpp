#include "planning/turns.hpp"

#include <algorithm>
#include <vector>

#include "execute/arithmetic/replay.hpp"
#include "plan/passes/turns.hpp"
#include "plan/tables.hpp"

namespace sluice {

namespace {

/// Returns for each action the time at which it begins. For an action of the body, this is the time
/// in an iteration in the middle of the run. In the last iteration, actions that work for a next
/// iteration are dropped, so they have no time.
std::vector<double> starts_of(const Plan& plan, bool& blocks) {
  constexpr std::int64_t enough = 16;
  Plan some = plan;
  some.iterations = std::min(plan.iterations, enough);
  std::vector<double> starts(plan.actions.size(), 0);
  const std::int64_t middle =
      std::max<std::int64_t>(0, std::min(some.iterations / 2, some.iterations - 2));
  const ReplayResult result = replay(some, [&](const Executed& span) {
    if (plan.section_of(span.action) != Section::body || span.iteration <= middle)
      starts[span.action] = span.start;
  });
  blocks = result.blocking.has_value();
  return starts;
}

}  // namespace

std::optional<Plan> in_turn(const Plan& plan) {
  if (PlanTables(plan).contention_free()) return {};
  bool blocks = false;
  const std::vector<double> starts = starts_of(plan, blocks);
  if (blocks) return {};
  Plan turns = plan;
  take_turns(turns, starts);
  return turns;
}

}  // namespace sluice
