#include "planning/turns.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "execute/arithmetic/replay.hpp"
#include "plan/passes/turns.hpp"
#include "plan/tables.hpp"

namespace sluice {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// The start of each action in a simulation, in seconds.
struct Starts {
  /// For an action of the body, this is the start in an iteration in the middle of the run. In the last iteration, actions
  /// that work for a next iteration are dropped, so they have no time.
  std::vector<double> usual;
  std::vector<double> first;  ///< for an action of the body, the start of its first execution
  bool blocks = false;
};

Starts starts_of(const Plan& plan) {
  constexpr std::int64_t enough = 16;
  Plan some = plan;
  some.iterations = std::min(plan.iterations, enough);
  Starts starts{.usual = std::vector<double>(plan.actions.size(), 0),
                .first = std::vector<double>(plan.actions.size(), never)};
  const std::int64_t middle =
      std::max<std::int64_t>(0, std::min(some.iterations / 2, some.iterations - 2));
  const ReplayResult result = replay(some, [&](const Executed& span) {
    starts.first[span.action] = std::min(starts.first[span.action], span.start);
    if (plan.section_of(span.action) != Section::body || span.iteration <= middle)
      starts.usual[span.action] = span.start;
  });
  starts.blocks = result.blocking.has_value();
  return starts;
}

/// Returns for each transfer the time at which its data is needed: the earliest start of an action that waits for it. A
/// transfer for which no action of the same iteration waits has its own start. In each section, a stream executes its
/// transfers in listing order, so a transfer is needed at the latest when the next one on its stream is needed.
std::vector<double> needs_of(const Plan& plan, const Starts& starts) {
  std::vector<double> needs(plan.actions.size(), never);
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a)
    for (const Wait& wait : plan.actions[a].waits)
      if (wait.distance == 0) {
        const bool inside = plan.section_of(wait.action) == plan.section_of(a);
        double& need = needs[wait.action];
        need = std::min(need, inside ? starts.usual[a] : starts.first[a]);
      }
  std::vector<std::uint32_t> next(plan.streams.size(), none);
  for (auto a = static_cast<std::uint32_t>(plan.actions.size()); a-- > 0;) {
    if (!plan.actions[a].is_transfer()) continue;
    if (needs[a] == never) needs[a] = starts.usual[a];
    const std::uint32_t after = std::exchange(next[plan.actions[a].stream], a);
    if (after != none && plan.section_of(after) == plan.section_of(a))
      needs[a] = std::min(needs[a], needs[after]);
  }
  return needs;
}

}  // namespace

std::vector<Plan> in_turn(const Plan& plan) {
  if (PlanTables(plan).contention_free()) return {};
  const Starts starts = starts_of(plan);
  if (starts.blocks) return {};
  std::vector<Plan> plans(2, plan);
  take_turns(plans[0], starts.usual);
  take_turns(plans[1], needs_of(plan, starts));
  const auto same = [](const Action& a, const Action& b) { return a.waits == b.waits; };
  if (std::ranges::equal(plans[0].actions, plans[1].actions, same)) plans.pop_back();
  return plans;
}

}  // namespace sluice
