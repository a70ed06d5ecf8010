#include "study/fits/footprint.hpp"

#include "execute/arithmetic/replay.hpp"
#include "execute/residency.hpp"
#include "plan/tables.hpp"

namespace sluice {
namespace {

std::string doing(const Plan& plan, const Action& action) {
  const std::string text(name_of(action.kind));
  const auto stage = static_cast<std::size_t>(action.stage);
  const bool named = action.stage >= 0 && stage < plan.stages.size();
  return named ? text + " of " + plan.stages[stage] : text;
}

}  // namespace

Footprint footprint_of(const Plan& plan, const std::string& memory, std::int64_t samples) {
  const PlanTables index(plan);
  Residency live(index);
  Footprint footprint{.samples = samples};
  std::array<std::int64_t, tensor_class_count> level{};
  std::uint32_t pool = 0;
  while (plan.pools.at(pool).name != memory) ++pool;
  for (const Tensor& tensor : plan.tensors)
    if (tensor.home == pool) level[static_cast<std::size_t>(tensor.tensor_class)] += tensor.bytes;
  const auto tally = [&](const Placement& placement, std::int64_t sign) {
    const Tensor& tensor = plan.tensors[placement.tensor];
    if (placement.pool == pool)
      level[static_cast<std::size_t>(tensor.tensor_class)] += sign * tensor.bytes;
  };
  replay(plan, [&](const Executed& done) {
    const Action& action = plan.actions[done.action];
    live.allocate(done.action, done.iteration);
    for (const Placement& made : action.allocates) tally(made, 1);
    if (live.level(pool) > footprint.bytes) {
      footprint.bytes = live.level(pool);
      footprint.by_class = level;
      footprint.action = name_of(action);
      footprint.doing = doing(plan, action);
    }
    live.release(done.action, done.iteration, [&](const Placement& gone) { tally(gone, -1); });
  });
  return footprint;
}

}  // namespace sluice
