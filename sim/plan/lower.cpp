#include "plan/lower.hpp"

#include <map>
#include <tuple>

#include "base/error.hpp"

namespace sluice {

namespace {

struct Price {
  double seconds = 0, flop = 0, bytes = 0;
};

Price forward_price(const Pricing& pricing, const Stage& stage, const Device& device,
                    std::int64_t samples) {
  Price price;
  for (std::uint32_t l = stage.first; l <= stage.last; ++l) {
    const Work work = forward_work(pricing.model, pricing.model.layers[l], samples, pricing.dtype);
    price.seconds += pricing.cost.seconds(work, device, pricing.dtype);
    price.flop += work.flop;
    price.bytes += work.bytes;
  }
  return price;
}

/// Prices by (stage, device, samples): micro-batches are many, prices few.
class Prices {
 public:
  explicit Prices(const Pricing& pricing) : pricing_(pricing) {}

  const Price& of(const Action& action, const std::string& device) {
    if (action.kind != ActionKind::forward)
      throw InternalError("no cost for " + std::string(name_of(action.kind)));
    auto [found, fresh] = known_.try_emplace({action.stage, device, action.samples});
    if (fresh)
      found->second =
          forward_price(pricing_, pricing_.stages.at(static_cast<std::size_t>(action.stage)),
                        pricing_.platform.device(device), action.samples);
    return found->second;
  }

 private:
  const Pricing& pricing_;
  std::map<std::tuple<std::int32_t, std::string, std::int64_t>, Price> known_;
};

std::uint32_t route_of(Plan& plan, const Platform& platform, const Action& action,
                       std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>& known) {
  auto [found, fresh] = known.try_emplace({action.from, action.to}, 0);
  if (fresh) {
    const Path path = platform.path(plan.pools[action.from].name, plan.pools[action.to].name);
    found->second = static_cast<std::uint32_t>(plan.routes.size());
    plan.routes.push_back({path.name, path.channels, path.setup_s, path.latency_s});
  }
  return found->second;
}

}  // namespace

void lower(Plan& plan, const Pricing& pricing) {
  Prices prices(pricing);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> routes;
  for (const Stage& stage : pricing.stages) plan.stages.push_back(stage.name);
  for (Action& action : plan.actions) {
    if (action.is_transfer()) {
      if (action.route == none) action.route = route_of(plan, pricing.platform, action, routes);
      continue;
    }
    const Stream& stream = plan.streams[action.stream];
    const Price& price = prices.of(action, stream.device);
    action.seconds = price.seconds;
    action.flop = price.flop;
    action.memory_bytes = price.bytes;
    action.joules = (stream.busy_w - stream.idle_w) * price.seconds;
  }
}

void serialise(Plan& plan) {
  // Actions that work for another iteration are dropped at an end of the run: whoever comes after
  // one also waits for the nearest before it that never is.
  const auto chain = [&](std::uint32_t a, std::uint32_t before, std::uint32_t begin,
                         std::uint32_t distance) {
    for (std::uint32_t b = before;; --b) {
      plan.actions[a].waits.push_back({b, distance});
      if (plan.actions[b].ahead == 0 || plan.section_of(b) != Section::body || b == begin) return;
    }
  };
  for (std::uint32_t a = 1; a < plan.actions.size(); ++a) chain(a, a - 1, 0, 0);
  if (plan.body_end > plan.body_begin)
    chain(plan.body_begin, plan.body_end - 1, plan.body_begin, 1);
}

}  // namespace sluice
