#include "planning/lower.hpp"

#include <cmath>
#include <map>
#include <tuple>

#include "base/error.hpp"
#include "planning/layer_passes.hpp"
#include "planning/placement/update_query.hpp"

namespace sluice {

namespace {

Pass pass_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::forward:
      return Pass::forward;
    case ActionKind::recompute:
      return Pass::recompute;
    case ActionKind::backward:
      return Pass::backward;
    case ActionKind::backward_input:
      return Pass::backward_input;
    case ActionKind::backward_weight:
      return Pass::backward_weight;
    case ActionKind::update:
      return Pass::update;
    default:
      throw InternalError("no cost for " + std::string(name_of(kind)));
  }
}

/// Returns the sum of the prices of those layers of the stage for which `chosen` returns true.
template <class Chosen>
Price sum_of(const Pricing& pricing, const StageQuery& query, Pass pass, Chosen&& chosen) {
  Price price;
  for (std::uint32_t l = query.stage.first; l <= query.stage.last; ++l) {
    const Layer& layer = pricing.model.layers[l];
    if (chosen(layer))
      price += pricing.cost.of(
          query_of(pricing.model, layer, pass, query.samples, pricing.dtype, query.device));
  }
  return price;
}

/// Returns the price of a backward pass, or of only one of its two gradients: `pass` says which. If the workload gives
/// the backward pass as a multiple of the forward pass, each of the two gradients counts as half of the backward pass.
/// A layer without a backward pass adds nothing.
Price backward_price(const Pricing& pricing, const StageQuery& query, Pass pass) {
  const auto runs = [](const Layer& layer) { return layer.backward.runs; };
  const std::optional<double> multiple = pricing.training->backward;
  if (!multiple) return sum_of(pricing, query, pass, runs);
  return multiple_of(sum_of(pricing, query, Pass::forward, runs),
                     pass == Pass::backward ? *multiple : *multiple / 2);
}

/// Returns the price of an update. All tensors of the update are in the first memory of the device, so the query needs
/// no operands.
Price update_price(const Pricing& pricing, const StageQuery& query) {
  const std::int64_t bytes = query.stage.weight_bytes, parameters = bytes / bytes_of(pricing.dtype);
  if (parameters == 0) return {};
  Query update = update_query({query.stage.name, parameters, bytes}, *pricing.training,
                              pricing.dtype, query.device);
  update.operands.clear();
  return pricing.cost.of(update);
}

/// The prices of actions. Many actions have the same price, because they differ only in their micro-batch. So a price
/// is computed when it is first needed, and then kept. Its key is kind, part, stage, stream and samples.
class Prices {
 public:
  explicit Prices(const Pricing& pricing) : pricing_(pricing) {}

  const Price& of(const Action& action, const std::string& device) {
    auto [found, fresh] =
        known_.try_emplace({action.kind, action.part, action.stage, action.stream, action.samples});
    if (fresh)
      found->second =
          price_of(pricing_, {.kind = action.kind,
                              .stage = pricing_.stages.at(static_cast<std::size_t>(action.stage)),
                              .device = pricing_.platform.device(device),
                              .samples = action.samples,
                              .selective = action.part == WorkPart::selective});
    return found->second;
  }

 private:
  const Pricing& pricing_;
  std::map<std::tuple<ActionKind, WorkPart, std::int32_t, std::uint32_t, std::int64_t>, Price>
      known_;
};

void find_routes(Plan& plan, const Platform& platform) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known;  // indexed by pools
  for (Action& action : plan.actions)
    for (Flow& flow : action.flows) {
      if (flow.route != none) continue;
      auto [found, fresh] =
          known.try_emplace({flow.from, flow.to}, static_cast<std::uint32_t>(plan.routes.size()));
      if (fresh) {
        const Path& path = platform.path(plan.pools[flow.from].name, plan.pools[flow.to].name);
        plan.routes.push_back({path.name, path.channels, path.setup_s, path.latency_s});
      }
      flow.route = found->second;
    }
}

/// Sets the joules of a computation that has seconds but no joules, from the device's watts.
void take_joules(Action& action, const Stream& stream) {
  if (action.joules == 0) action.joules = (stream.busy_w - stream.idle_w) * action.seconds;
}

}  // namespace

Price price_of(const Pricing& pricing, const StageQuery& query) {
  const Pass pass = pass_of(query.kind);
  if (pass == Pass::update) return update_price(pricing, query);
  if (pass == Pass::forward || pass == Pass::recompute)
    return sum_of(pricing, query, pass,
                  [&](const Layer& layer) { return !query.selective || layer.backward.selective; });
  return backward_price(pricing, query, pass);
}

void take_price(Action& action, const Price& price, const Stream& stream) {
  action.seconds = price.seconds;
  action.flop = price.flop;
  action.memory_bytes = price.bytes;
  action.measured_s = price.measured_s;
  action.joules = price.joules + (stream.busy_w - stream.idle_w) * (price.seconds - price.joules_s);
}

std::vector<LayerPass> layer_passes(const Pricing& pricing, const StageQuery& query) {
  const Pass pass = pass_of(query.kind);
  if (pass == Pass::update) return {};
  const bool forward = pass == Pass::forward || pass == Pass::recompute;
  std::optional<double> multiple = forward ? std::nullopt : pricing.training->backward;
  // backward_price() explains this factor.
  if (multiple) *multiple *= pass == Pass::backward ? 1 : 0.5;
  std::vector<LayerPass> passes;
  for (std::uint32_t l = query.stage.first; l <= query.stage.last; ++l) {
    const Layer& layer = pricing.model.layers[l];
    if (forward ? query.selective && !layer.backward.selective : !layer.backward.runs) continue;
    passes.push_back({l, multiple ? Pass::forward : pass, multiple});
  }
  return passes;
}

std::vector<LayerPrice> layer_prices(const Pricing& pricing, const StageQuery& query) {
  if (query.kind == ActionKind::update) return {{nullptr, update_price(pricing, query)}};
  std::vector<LayerPrice> prices;
  for (const LayerPass& one : layer_passes(pricing, query)) {
    const Layer& layer = pricing.model.layers[one.layer];
    const Price price = pricing.cost.of(
        query_of(pricing.model, layer, one.pass, query.samples, pricing.dtype, query.device));
    prices.emplace_back(&layer, one.part(price));
  }
  return prices;
}

void lower(Plan& plan, const Pricing& pricing) {
  Prices prices(pricing);
  find_routes(plan, pricing.platform);
  if (plan.stages.empty())
    for (const Stage& stage : pricing.stages) plan.stages.push_back(stage.name);
  for (Action& action : plan.actions) {
    if (action.is_transfer()) continue;
    const Stream& stream = plan.streams[action.stream];
    if (std::isnan(action.seconds))
      take_price(action, prices.of(action, stream.device), stream);
    else
      take_joules(action, stream);
  }
}

bool lower_as_written(Plan& plan, const Platform& platform) {
  for (const Action& action : plan.actions)
    if (!action.is_transfer() && std::isnan(action.seconds)) return false;
  find_routes(plan, platform);
  for (Action& action : plan.actions)
    if (!action.is_transfer()) take_joules(action, plan.streams[action.stream]);
  return true;
}

}  // namespace sluice
