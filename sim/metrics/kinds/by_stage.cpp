// The metric compute_s_by_stage: the seconds of computation of each stage.
#include <map>
#include <string>
#include <vector>

#include "metrics/metric.hpp"

namespace sluice {
namespace {

std::string stage_name(const Plan& plan, std::uint32_t stage) {
  if (stage == none) return "none";
  return stage < plan.stages.size() ? plan.stages[stage] : std::to_string(stage);
}

/// Lists stages in their order. Stages with equal names count as one stage. Actions without a stage come
/// last.
SummaryValue compute(const Totals& totals) {
  const Plan& plan = totals.plan();
  // An action without a stage has the stage -1. As an unsigned number, -1 becomes `none`, which is greater than all
  // other stages.
  std::map<std::uint32_t, double> seconds;
  for (std::size_t a = 0; a < plan.actions.size(); ++a)
    if (const Action& action = plan.actions[a];
        plan.streams[action.stream].kind == StreamKind::compute)
      seconds[static_cast<std::uint32_t>(action.stage)] += totals.actions()[a].seconds.value();
  std::vector<SummaryValue::Keyed> keyed;
  std::map<std::string, std::size_t> places;
  for (const auto& [stage, sum] : seconds) {
    const auto [place, is_new] = places.try_emplace(stage_name(plan, stage), keyed.size());
    if (is_new) keyed.push_back({{place->first}, 0});
    keyed[place->second].number += sum;
  }
  return SummaryValue::of(std::move(keyed));
}

}  // namespace

extern const Metric compute_s_by_stage_metric = {
    .name = "compute_s_by_stage",
    .unit = "s",
    .summary = "Busy time that the compute streams spend on the actions of each stage.",
    .details =
        "The metric adds up the seconds of all actions of a stage on compute streams. In training, "
        "these actions are forward passes, backward passes, recomputation and updates. Stages with "
        "equal names count as one stage. Actions without a stage count under `none`. Look at this "
        "metric before you choose another cut, because it shows which stage takes longest.",
    .better = Metric::Better::lower,
    .value = compute,
};

}  // namespace sluice
