#include "planning/placement/turns/unlisted.hpp"

#include <algorithm>
#include <map>

namespace sluice {
namespace {

bool may_stay(TensorClass tensor_class) {
  return tensor_class == TensorClass::weight || tensor_class == TensorClass::gradient ||
         tensor_class == TensorClass::optimizer;
}

/// Returns the tensors that stay on the device, by stage. They belong to the stage of the action that allocates them.
std::map<std::int32_t, std::vector<Placement>> staying_in(const Plan& plan, std::uint32_t pool) {
  std::vector<char> listed(plan.tensors.size(), 0);
  for (const Action& action : plan.actions)
    for (const Access& use : action.uses)
      if (!action.is_transfer()) listed[use.tensor] = 1;
  std::map<std::int32_t, std::vector<Placement>> staying;
  for (const Action& action : plan.actions)
    for (const Placement& made : action.allocates)
      if (made.pool == pool && listed[made.tensor] == 0 &&
          may_stay(plan.tensors[made.tensor].tensor_class))
        staying[action.stage].push_back(made);
  return staying;
}

}  // namespace

std::vector<std::vector<Placement>> unlisted_operands(const Plan& plan, std::uint32_t pool,
                                                      PlacedPrices& prices) {
  const auto staying = staying_in(plan, pool);
  std::map<std::int32_t, std::vector<Placement>> turns;  // the weights that a stage listed last
  std::vector<std::vector<Placement>> unlisted(plan.actions.size());
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    const Action& action = plan.actions[a];
    if (action.is_transfer()) continue;
    const TensorKinds& kinds = prices.used_by(prices.work_of(plan, action));
    const auto is_used = [&](const Placement& one) {
      return std::ranges::any_of(kinds, [&](const TensorKind& kind) {
        return kind.tensor_class == plan.tensors[one.tensor].tensor_class;
      });
    };
    std::vector<Placement> listed;
    for (const Access& use : action.uses)
      if (use.pool == pool && plan.tensors[use.tensor].tensor_class == TensorClass::weight)
        listed.push_back(use.placement());
    if (listed.empty())
      std::ranges::copy_if(turns[action.stage], std::back_inserter(unlisted[a]), is_used);
    else
      turns[action.stage] = std::move(listed);
    if (const auto stay = staying.find(action.stage); stay != staying.end())
      std::ranges::copy_if(stay->second, std::back_inserter(unlisted[a]), is_used);
  }
  return unlisted;
}

}  // namespace sluice
