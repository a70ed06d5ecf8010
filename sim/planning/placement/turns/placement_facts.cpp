#include "planning/placement/turns/placement_facts.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "fates/optimal/report.hpp"

namespace sluice {

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
