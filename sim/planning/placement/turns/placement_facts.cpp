#include "planning/placement/turns/placement_facts.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "fates/optimal/report.hpp"
#include "planning/copy_time.hpp"
#include "planning/placement/placement_gap.hpp"

namespace sluice {

double kernel_seconds(const Plan& plan) {
  double seconds = 0;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a)
    if (!plan.actions[a].is_transfer())
      seconds += static_cast<double>(plan.executions_of(a)) * plan.actions[a].seconds;
  return seconds;
}

double kernel_seconds_at_least(const Plan& plan, const PlacedPrices& prices) {
  std::map<StageWork, double> known;
  double seconds = 0;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    const Action& action = plan.actions[a];
    if (action.is_transfer()) continue;
    const StageWork work = prices.work_of(plan, action);
    const auto [least, fresh] = known.try_emplace(work, 0);
    if (fresh) least->second = prices.least_seconds(work);
    seconds += static_cast<double>(plan.executions_of(a)) * least->second;
  }
  return seconds * within_accuracy;
}

void say_gap(Plan& plan, const PlacedPrices& prices) try {
  const double least = kernel_seconds_at_least(plan, prices);
  if (!(least > 0)) return;
  add_placement_gap(plan, kernel_seconds(plan), least, fastest_kernels);
} catch (const InputError&) {  // the bound has no price
}

void say_placement(Plan& plan, const PlacedTurns& turns) {
  plan.facts.insert(plan.facts.begin(), Fact("placement", turns.way));
  std::map<std::uint32_t, std::int64_t> bytes;
  std::set<std::pair<std::uint32_t, std::uint32_t>> counted;
  const auto count = [&](std::uint32_t tensor, std::uint32_t pool) {
    if (pool != none && counted.insert({tensor, pool}).second)
      bytes[pool] += plan.tensors[tensor].bytes;
  };
  for (std::uint32_t t = 0; t < plan.tensors.size(); ++t) count(t, plan.tensors[t].home);
  for (const Action& action : plan.actions)
    for (const Placement& made : action.allocates) count(made.tensor, made.pool);
  std::set<std::string> memories;
  for (const std::string& name : turns.of_policy.on.names)
    for (std::size_t m = 0; m < 2; ++m)
      memories.insert(turns.request.pricing.platform.device(name).memories[m].pool);
  for (std::uint32_t p = 0; p < plan.pools.size(); ++p)
    if (memories.count(plan.pools[p].name) != 0)
      plan.facts.push_back(Fact("placed_bytes", bytes[p], "byte").said_of(plan.pools[p].name));
}

bool holds_for_one_memory(const Fact& fact) {
  static const std::set<std::string> names = {"budget_bytes", "recompute_of_stage_s",
                                              "copies_of_stage_s"};
  return is_proven(fact) || names.count(fact.name) != 0;
}

}  // namespace sluice
