#include "study/operators/operators.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "planning/lower.hpp"

namespace sluice {
namespace {

void add(OperatorSum& sum, const OperatorSum& part) {
  for (double OperatorSum::*member : {&OperatorSum::seconds, &OperatorSum::joules,
                                      &OperatorSum::measured_s, &OperatorSum::measured_j})
    sum.*member += part.*member;
}

/// Returns the seconds and joules of `times` executions that each have this price. If joules were not measured, they
/// come from `watts`: the power of the computing device above its idle power.
OperatorSum sum_of(const Price& price, double watts, double times) {
  OperatorSum sum;
  sum.seconds = times * price.seconds;
  sum.measured_s = times * price.measured_s;
  sum.joules = times * (price.joules + watts * (price.seconds - price.joules_s));
  sum.measured_j = times * price.measured_j;
  return sum;
}

bool computes(ActionKind kind) {
  switch (kind) {
    case ActionKind::forward:
    case ActionKind::recompute:
    case ActionKind::backward:
    case ActionKind::backward_input:
    case ActionKind::backward_weight:
    case ActionKind::update:
      return true;
    default:
      return false;
  }
}

class Sums {
 public:
  Sums(const Scenario& scenario, const CutModel& cut, const Plan& plan)
      : scenario_(scenario),
        cut_(cut),
        plan_(plan),
        model_(cut.split ? *cut.split : scenario.model),
        pricing_{model_,
                 cut.stages,
                 scenario.platform,
                 *scenario.cost,
                 scenario.workload.dtype,
                 scenario.workload.training ? &*scenario.workload.training : nullptr},
        by_layer_(model_.layers.size()) {}

  OperatorSums sums() {
    for (std::uint32_t a = 0; a < plan_.actions.size(); ++a)
      if (!plan_.actions[a].is_transfer() && plan_.actions[a].seconds > 0) count(a);
    return made();
  }

 private:
  void count(std::uint32_t index) {
    const Action& action = plan_.actions[index];
    const Stream& stream = plan_.streams[action.stream];
    const auto times = static_cast<double>(plan_.executions_of(index));
    const double watts = stream.busy_w - stream.idle_w;
    OperatorSum rest;
    rest.seconds = times * action.seconds;
    rest.joules = times * action.joules;
    rest.measured_s = times * action.measured_s;
    if (is_priced(action, stream)) {
      const std::vector<LayerPrice>& parts = prices(action, stream);
      // A policy may set the seconds of an action. So the seconds of the action may differ from the sum of the prices
      // of its layers. The prices are scaled so that their sum is the seconds of the action.
      double seconds = 0;
      for (const LayerPrice& part : parts) seconds += part.second.seconds;
      const double scale = seconds > 0 ? times * action.seconds / seconds : 0;
      for (const auto& [layer, price] : parts)
        take_from(
            rest,
            layer ? by_layer_[static_cast<std::size_t>(layer - model_.layers.data())] : update_,
            sum_of(price, watts, scale));
    }
    add(other_, rest);
  }

  static void take_from(OperatorSum& rest, OperatorSum& to, const OperatorSum& part) {
    add(to, part);
    rest.seconds -= part.seconds;
    rest.joules -= part.joules;
    rest.measured_s -= part.measured_s;
  }

  bool is_priced(const Action& action, const Stream& stream) const {
    return action.stage >= 0 && static_cast<std::size_t>(action.stage) < cut_.stages.size() &&
           !stream.device.empty() && scenario_.platform.device_or_null(stream.device) &&
           computes(action.kind);
  }

  const std::vector<LayerPrice>& prices(const Action& action, const Stream& stream) {
    auto [found, fresh] =
        known_.try_emplace({action.kind, action.part, action.stage, stream.device, action.samples});
    if (fresh)
      found->second =
          layer_prices(pricing_, {.kind = action.kind,
                                  .stage = cut_.stages[static_cast<std::size_t>(action.stage)],
                                  .device = scenario_.platform.device(stream.device),
                                  .samples = action.samples,
                                  .selective = action.part == WorkPart::selective});
    return found->second;
  }

  OperatorSums made() {
    OperatorSums sums;
    std::map<std::string, OperatorSum> classes;
    const auto take = [&](OperatorSum sum, const std::string& name, const std::string& type) {
      sum.name = name;
      sum.type = type;
      OperatorSum& of_class = classes[type];
      of_class.name = of_class.type = type;
      add(of_class, sum);
      add(sums.total, sum);
      sums.layers.push_back(std::move(sum));
    };
    for (std::size_t l = 0; l < by_layer_.size(); ++l)
      if (by_layer_[l].seconds > 0)
        take(by_layer_[l], model_.layers[l].name, model_.layers[l].type);
    if (update_.seconds > 0) take(update_, "update", "update");
    if (other_.seconds > 1e-9 * (sums.total.seconds + other_.seconds))
      take(other_, "other", "other");
    for (auto& [type, sum] : classes) sums.classes.push_back(std::move(sum));
    std::stable_sort(
        sums.classes.begin(), sums.classes.end(),
        [](const OperatorSum& a, const OperatorSum& b) { return a.seconds > b.seconds; });
    return sums;
  }

  const Scenario& scenario_;
  const CutModel& cut_;
  const Plan& plan_;
  const Model& model_;
  const Pricing pricing_;
  std::vector<OperatorSum> by_layer_;
  OperatorSum update_, other_;
  std::map<std::tuple<ActionKind, WorkPart, std::int32_t, std::string, std::int64_t>,
           std::vector<LayerPrice>>
      known_;
};

}  // namespace

OperatorSums operator_sums(const Scenario& scenario, const CutModel& cut, const Plan& plan) {
  return Sums(scenario, cut, plan).sums();
}

}  // namespace sluice
