#include "planning/turns.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "execute/arithmetic/replay.hpp"
#include "plan/tables.hpp"

namespace sluice {

namespace {

/// When each action begins, for the first time or, in a body, in an iteration in the middle.
std::vector<double> starts_of(const Plan& plan, bool& blocks) {
  constexpr std::int64_t enough = 16;
  Plan some = plan;
  some.iterations = std::min(plan.iterations, enough);
  std::vector<double> starts(plan.actions.size(), 0);
  const std::int64_t middle = some.iterations / 2;
  const ReplayResult result = replay(some, [&](const Executed& span) {
    if (plan.section_of(span.action) != Section::body || span.iteration <= middle)
      starts[span.action] = span.start;
  });
  blocks = result.blocking.has_value();
  return starts;
}

}  // namespace

std::optional<Plan> in_turn(const Plan& plan) {
  const PlanTables index(plan);
  if (index.contention_free()) return {};
  bool blocks = false;
  const std::vector<double> starts = starts_of(plan, blocks);
  if (blocks) return {};
  std::vector<std::uint32_t> order;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a)
    if (plan.actions[a].is_transfer() && plan.executions_of(a) > 0) order.push_back(a);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::make_tuple(plan.section_of(a), starts[a], a) <
           std::make_tuple(plan.section_of(b), starts[b], b);
  });
  Plan turns = plan;
  std::vector<std::uint32_t> last(plan.links.size(), none);
  for (const std::uint32_t a : order)
    for (const std::uint32_t link : plan.routes[plan.actions[a].route].links) {
      if (!index.link_shared[link]) continue;
      const std::uint32_t before = std::exchange(last[link], a);
      if (before == none || plan.section_of(before) != plan.section_of(a)) continue;
      if (plan.actions[before].stream == plan.actions[a].stream) continue;
      if (plan.actions[before].ahead != plan.actions[a].ahead) continue;
      const Wait wait{before, 0};
      auto& waits = turns.actions[a].waits;
      if (std::find(waits.begin(), waits.end(), wait) == waits.end()) waits.push_back(wait);
    }
  return turns;
}

}  // namespace sluice
