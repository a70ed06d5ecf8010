#include "planning/price_again.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "planning/lower.hpp"

namespace sluice {

namespace {

/// Returns the index of the device with this name in the platform, or `none` if there is no such device.
std::uint32_t number_of(const Platform& platform, const std::string& name) {
  const Device* device = platform.device_or_null(name);
  return device ? static_cast<std::uint32_t>(device - platform.devices.data()) : none;
}

}  // namespace

std::optional<PriceAgain> PriceAgain::of(const Draft& draft) {
  if (!draft.decisions) return {};
  for (const Action& action : draft.plan.actions)
    if (!action.is_transfer() && !std::isnan(action.seconds)) return {};
  PriceAgain again;
  again.decisions_ = draft.decisions;
  again.stages_ = draft.stages;
  return again;
}

PolicyRequest PriceAgain::with_own_stages(const PolicyRequest& request) const {
  return request.priced(request.pricing.of(stages_ ? *stages_ : request.pricing.stages));
}

bool PriceAgain::learn(const Plan& plan, const PolicyRequest& request) {
  if (!learn_parts(plan, request.pricing.platform)) return false;
  decided_ = decisions(request);
  return true;
}

bool PriceAgain::learn(const Plan& plan, const PolicyRequest& request, const PriceAgain& other,
                       PriceDecisions decided) {
  // `decisions_` may keep a training step for its next call. All copies of the function share this step.
  decisions_ = other.decisions_;
  decided_ = std::move(decided);
  return learn_parts(plan, request.pricing.platform);
}

bool PriceAgain::learn_parts(const Plan& plan, const Platform& platform) {
  const bool own_links = !std::equal(
      plan.links.begin(), plan.links.end(), platform.channels.begin(), platform.channels.end(),
      [](const Link& link, const Channel& channel) { return link.name == channel.name; });
  if (own_links || !learn_routes(plan, platform)) return false;
  for (const Stream& stream : plan.streams)
    owners_.push_back(stream.kind == StreamKind::compute ? number_of(platform, stream.device)
                                                         : none);
  std::map<Kind, std::uint32_t> known;
  for (const Action& action : plan.actions) {
    kind_of_.push_back(none);
    if (action.is_transfer()) continue;
    const std::uint32_t device = number_of(platform, plan.streams[action.stream].device);
    if (device == none) return false;
    const Kind kind{action.kind, action.part, action.stage, device, action.samples};
    const auto [found, fresh] = known.try_emplace(kind, static_cast<std::uint32_t>(kinds_.size()));
    if (fresh) kinds_.push_back(kind);
    kind_of_.back() = found->second;
  }
  return true;
}

/// Returns whether the platform has a path (struct Path) with the name and the links of each route of the plan. Stores
/// the two memories that each path connects.
bool PriceAgain::learn_routes(const Plan& plan, const Platform& platform) {
  std::vector<char> seen(plan.routes.size(), 0);
  for (const Action& action : plan.actions)
    for (const Flow& flow : action.flows) {
      if (flow.from == none || flow.to == none) return false;
      if (std::exchange(seen[flow.route], 1)) continue;
      routes_.push_back({flow.route, plan.pools[flow.from].name, plan.pools[flow.to].name});
      const Path& path = platform.path(routes_.back().from, routes_.back().to);
      const Route& route = plan.routes[flow.route];
      if (path.name != route.name || path.channels != route.links) return false;
    }
  return routes_.size() == plan.routes.size();
}

void PriceAgain::price(Plan& plan, const PolicyRequest& asked) const {
  const PolicyRequest request = with_own_stages(asked);
  const Platform& platform = request.pricing.platform;
  for (std::size_t l = 0; l < plan.links.size(); ++l) {
    const Channel& channel = platform.channels[l];
    plan.links[l] = {channel.name, channel.bandwidth, channel.idle_w, channel.busy_w};
  }
  for (const PricedRoute& way : routes_) {
    const Path& path = platform.path(way.from, way.to);
    plan.routes[way.route].setup_s = path.setup_s;
    plan.routes[way.route].latency_s = path.latency_s;
  }
  for (std::size_t s = 0; s < plan.streams.size(); ++s) {
    if (owners_[s] == none) continue;
    plan.streams[s].idle_w = platform.devices[owners_[s]].idle_w;
    plan.streams[s].busy_w = platform.devices[owners_[s]].busy_w;
  }
  std::vector<Price> prices;
  for (const Kind& kind : kinds_) {
    prices.push_back(price_of(
        request.pricing, {.kind = kind.kind,
                          .stage = request.pricing.stages.at(static_cast<std::size_t>(kind.stage)),
                          .device = platform.devices[kind.device],
                          .samples = kind.samples,
                          .selective = kind.part == WorkPart::selective}));
    if (!std::isfinite(prices.back().seconds)) throw InputError("an action takes for ever");
  }
  for (std::size_t a = 0; a < plan.actions.size(); ++a)
    if (kind_of_[a] != none)
      take_price(plan.actions[a], prices[kind_of_[a]], plan.streams[plan.actions[a].stream]);
}

}  // namespace sluice
