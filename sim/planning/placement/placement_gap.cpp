#include "planning/placement/placement_gap.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.hpp"
#include "base/gap.hpp"
#include "cost/operands.hpp"
#include "planning/copy_time.hpp"
#include "planning/layer_passes.hpp"
#include "planning/placement/placed_time.hpp"
#include "planning/placement/turns/placed_seconds.hpp"
#include "planning/placement/turns/placement_facts.hpp"
#include "planning/placement/update_query.hpp"
#include "planning/weights_stay.hpp"

namespace sluice {
namespace {

/// The least seconds of computations with each tensor in either of the two memories of the device.
class LeastSeconds {
 public:
  /// On a device that keeps all weights, tied weights count once. An update of all weights of a stage, with those that
  /// an earlier stage holds, may take longer. So the smaller stages give a bound for all plans.
  explicit LeastSeconds(const PolicyRequest& request)
      : stages_(held_once(request.pricing.stages)), pricing_(request.pricing.of(stages_)) {}
  LeastSeconds(const LeastSeconds&) = delete;

  /// Throws InputError if the cost model has no price. The device must have two memories.
  double of(const StageWork& work) {
    const auto [least, fresh] = known_.try_emplace(work, 0);
    if (fresh) least->second = seconds(work);
    return least->second;
  }

 private:
  double seconds(const StageWork& work) const {
    const Device& device = pricing_.platform.devices[work.device];
    const Stage& stage = stages_.at(static_cast<std::size_t>(work.stage));
    if (work.kind == ActionKind::update) {
      const auto parameter_bytes = static_cast<std::int64_t>(bytes_of(pricing_.dtype));
      return least(
          update_query({stage.name, stage.weight_bytes / parameter_bytes, stage.weight_bytes},
                       *pricing_.training, pricing_.dtype, device));
    }
    double seconds = 0;
    for (const LayerPass& one : layer_passes(pricing_, {.kind = work.kind,
                                                       .stage = stage,
                                                       .device = device,
                                                       .samples = work.samples,
                                                       .selective = work.selective})) {
      const Layer& layer = pricing_.model.layers[one.layer];
      Query query = query_of(pricing_.model, layer, one.pass, work.samples, pricing_.dtype, device);
      query.operands = operands_of(pricing_.model, layer, one.pass, work.samples, pricing_.dtype);
      seconds += one.part({.seconds = least(query)}).seconds;
    }
    return seconds;
  }

  /// Returns the least seconds of a query whose operands name no memory yet.
  double least(const Query& query) const {
    Query near =
        query;  // without operands, which stands for operands that are all in the first memory
    near.operands.clear();
    std::vector<std::size_t> tensors(query.operands.size());
    std::iota(tensors.begin(), tensors.end(), std::size_t{0});
    const TwoMemories memories = two_memories(pricing_.platform, query.device.name);
    return std::min(pricing_.cost.of(near).seconds,
                    placed_time(pricing_, memories, query, tensors, tensors.size()).least());
  }

  std::vector<Stage> stages_;
  Pricing pricing_;  ///< refers to `stages_`
  std::map<StageWork, double> known_;
};

}  // namespace

void add_placement_gap(Plan& plan, double seconds, double least, const std::string& bound_of) {
  if (!(seconds > 0)) return;
  const double gap = gap_of(seconds, least);
  plan.facts.emplace_back("placement_gap", gap < 2 * (1 - within_accuracy) ? 0 : gap, "1");
  plan.facts.emplace_back("placement_gap_to", bound_of);
}

bool say_gap_in_first_memories(Plan& plan, const PolicyRequest& request) try {
  const Platform& platform = request.pricing.platform;
  LeastSeconds of_work(request);
  double least = 0;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    const Action& action = plan.actions[a];
    if (action.is_transfer()) continue;
    const StageWork work = work_of(plan, action, platform);
    if (work.device >= platform.devices.size() || work.stage < 0 ||
        platform.devices[work.device].memories.size() < 2)
      return false;
    least += static_cast<double>(plan.executions_of(a)) * of_work.of(work);
  }
  const std::size_t before = plan.facts.size();
  add_placement_gap(plan, kernel_seconds(plan), least * within_accuracy, fastest_kernels);
  return plan.facts.size() > before;
} catch (const InputError&) {  // the bound has no price
  return false;
}

}  // namespace sluice
