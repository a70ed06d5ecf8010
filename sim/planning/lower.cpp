#include "planning/lower.hpp"

#include <cmath>
#include <map>
#include <tuple>

#include "base/error.hpp"

namespace sluice {

namespace {

void add(Price& price, const Pricing& pricing, const Work& work, const Device& device) {
  price.seconds += pricing.cost.seconds(work, device, pricing.dtype);
  price.flop += work.flop;
  price.bytes += work.bytes;
}

Price scaled(const Price& price, double factor) {
  return {price.seconds * factor, price.flop * factor, price.bytes * factor};
}

/// The part of one gradient in the work of both: by FLOP, and half where there are none.
Work share_of(const Work& work, const Backward& backward, bool input) {
  const double both =
      static_cast<double>(backward.input_flop) + static_cast<double>(backward.weight_flop);
  const double own = static_cast<double>(input ? backward.input_flop : backward.weight_flop);
  const double share = both > 0 ? own / both : 0.5;
  Work part = work;
  part.flop *= share;
  part.bytes *= share;
  if (part.measured_s) *part.measured_s *= share;
  return part;
}

template <class Chosen>
Price forward_price(const Pricing& pricing, const Stage& stage, const Device& device,
                    std::int64_t samples, Chosen&& chosen) {
  Price price;
  for (std::uint32_t l = stage.first; l <= stage.last; ++l) {
    const Layer& layer = pricing.model.layers[l];
    if (chosen(layer))
      add(price, pricing, forward_work(pricing.model, layer, samples, pricing.dtype), device);
  }
  return price;
}

/// Of the input gradient, the weight gradient, or both. As a multiple of the forward pass each is
/// half of it. Layers without a backward pass take no part in either.
Price backward_price(const Pricing& pricing, ActionKind kind, const Stage& stage,
                     const Device& device, std::int64_t samples) {
  const bool both = kind == ActionKind::backward;
  Price price;
  if (const std::optional<double> multiple = pricing.training->backward) {
    price = forward_price(pricing, stage, device, samples,
                          [](const Layer& layer) { return layer.backward.runs; });
    return scaled(price, both ? *multiple : *multiple / 2);
  }
  for (std::uint32_t l = stage.first; l <= stage.last; ++l) {
    const Layer& layer = pricing.model.layers[l];
    Work work = backward_work(pricing.model, layer, samples, pricing.dtype);
    if (!both) work = share_of(work, layer.backward, kind == ActionKind::backward_input);
    add(price, pricing, work, device);
  }
  return price;
}

/// Weights, gradients and state are read; weights and state are written.
Price update_price(const Pricing& pricing, const Stage& stage, const Device& device) {
  const Training& training = *pricing.training;
  const auto parameters = static_cast<double>(stage.weight_bytes / bytes_of(pricing.dtype));
  Work work;
  work.flop = parameters * training.optimizer->flop;
  work.bytes = 2 * static_cast<double>(stage.weight_bytes) +
               static_cast<double>(training.gradient_bytes(stage.weight_bytes)) +
               2 * static_cast<double>(training.optimizer_bytes(stage.weight_bytes));
  Price price;
  if (parameters > 0) add(price, pricing, work, device);
  return price;
}

/// Prices by (kind, stage, device, samples): micro-batches are many, prices few.
class Prices {
 public:
  explicit Prices(const Pricing& pricing) : pricing_(pricing) {}

  const Price& of(const Action& action, const std::string& device) {
    auto [found, fresh] = known_.try_emplace({action.kind, action.stage, device, action.samples});
    if (fresh)
      found->second = price_of(pricing_, action.kind,
                               pricing_.stages.at(static_cast<std::size_t>(action.stage)),
                               pricing_.platform.device(device), action.samples);
    return found->second;
  }

 private:
  const Pricing& pricing_;
  std::map<std::tuple<ActionKind, std::int32_t, std::string, std::int64_t>, Price> known_;
};

std::uint32_t route_of(Plan& plan, const Platform& platform, const Action& action,
                       std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>& known) {
  auto [found, fresh] = known.try_emplace({action.from, action.to}, 0);
  if (fresh) {
    const Path& path = platform.path(plan.pools[action.from].name, plan.pools[action.to].name);
    found->second = static_cast<std::uint32_t>(plan.routes.size());
    plan.routes.push_back({path.name, path.channels, path.setup_s, path.latency_s});
  }
  return found->second;
}

}  // namespace

Price price_of(const Pricing& pricing, ActionKind kind, const Stage& stage, const Device& device,
               std::int64_t samples) {
  switch (kind) {
    case ActionKind::forward:
    case ActionKind::recompute:
      return forward_price(pricing, stage, device, samples, [](const Layer&) { return true; });
    case ActionKind::backward:
    case ActionKind::backward_input:
    case ActionKind::backward_weight:
      return backward_price(pricing, kind, stage, device, samples);
    case ActionKind::update:
      return update_price(pricing, stage, device);
    default:
      throw InternalError("no cost for " + std::string(name_of(kind)));
  }
}

Price selective_price(const Pricing& pricing, const Stage& stage, const Device& device,
                      std::int64_t samples) {
  return forward_price(pricing, stage, device, samples,
                       [](const Layer& layer) { return layer.backward.selective; });
}

void lower(Plan& plan, const Pricing& pricing) {
  Prices prices(pricing);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> routes;
  if (plan.stages.empty())
    for (const Stage& stage : pricing.stages) plan.stages.push_back(stage.name);
  for (Action& action : plan.actions) {
    if (action.is_transfer()) {
      if (action.route == none) action.route = route_of(plan, pricing.platform, action, routes);
      continue;
    }
    const Stream& stream = plan.streams[action.stream];
    if (!std::isnan(action.seconds)) {  // priced by the policy
      action.joules = (stream.busy_w - stream.idle_w) * action.seconds;
      continue;
    }
    const Price& price = prices.of(action, stream.device);
    action.seconds = price.seconds;
    action.flop = price.flop;
    action.memory_bytes = price.bytes;
    action.joules = (stream.busy_w - stream.idle_w) * price.seconds;
  }
}

}  // namespace sluice
