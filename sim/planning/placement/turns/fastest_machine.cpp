#include "planning/placement/turns/fastest_machine.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <tuple>

#include "base/quantity.hpp"
#include "planning/copy_time.hpp"
#include "planning/placement/turns/placed_prices.hpp"
#include "planning/stage_bytes.hpp"

namespace sluice {
namespace {

/// Prices a pass of a layer with the least seconds that the pass takes in any placement. An update gets 0 seconds.
class LeastCost : public Cost {
 public:
  LeastCost(const PlacedPrices& prices, bool all_slow) : prices_(prices), all_slow_(all_slow) {}

  Price of(const Query& query) const override {
    if (!query.layer) return {};
    const Model& model = prices_.request().pricing.model;
    const auto layer = static_cast<std::uint32_t>(query.layer - model.layers.data());
    const auto& devices = prices_.request().pricing.platform.devices;
    const auto device = static_cast<std::uint32_t>(
        std::ranges::find(devices, query.device.name, &Device::name) - devices.begin());
    const auto [known, fresh] = known_.try_emplace({device, layer, query.pass, query.samples}, 0);
    if (fresh)
      known->second = prices_.least_seconds({.layer = layer,
                                             .pass = query.pass,
                                             .samples = query.samples,
                                             .device = device,
                                             .all_slow = all_slow_});
    return {.seconds = known->second};
  }

 private:
  const PlacedPrices& prices_;
  bool all_slow_;
  mutable std::map<std::tuple<std::uint32_t, std::uint32_t, Pass, std::int64_t>, double> known_;
};

/// Returns the copy time of a made-up path in place of these two paths: however copies are divided between the two
/// paths, they take at least as long as on the made-up path. If the two paths have a common copy engine, all copies
/// take turns. If not, copies over one path may run beside copies over the other path, and there are two bounds:
/// - The links that belong to both paths carry the bytes of all copies.
/// - Let r1 and r2 be the rates of the two paths, and s1 and s2 their set-ups. The engine that works longer works at
///   least as long as any weighted mean of both engines' seconds. With the weights r1 / (r1 + r2) and r2 / (r1 + r2), a
///   copy of b bytes adds (r s + b) / (r1 + r2) to this mean, with the r and s of its path.
/// The result is the bound that is greater for a copy of `bytes` bytes. In inference, it has no set-up and no latency:
/// the policy's bound counts those of the loads of weights that do not stay, but other weights may stay on another
/// machine.
CopyTime at_most(const Platform& platform, const Path& one, const Path& other, double bytes,
                 bool training) {
  const double one_rate = narrowest(platform, one.channels),
               other_rate = narrowest(platform, other.channels),
               common_rate = narrowest(platform, common_channels(one, other)),
               latency_s = training ? std::min(one.latency_s, other.latency_s) : 0;
  if (one.stream == other.stream)
    return {training ? std::min(one.setup_s, other.setup_s) : 0, std::max(one_rate, other_rate),
            latency_s};
  const double rate = one_rate + other_rate;
  const CopyTime links{0, common_rate, latency_s},
      engines{training ? std::min(one_rate * one.setup_s, other_rate * other.setup_s) / rate : 0,
              rate, latency_s};
  return engines.setup_s + bytes / rate >= bytes / common_rate ? engines : links;
}

/// Returns the bytes of the weights of a stage, on average over all stages.
double mean_weight_bytes(const PolicyRequest& request) {
  double bytes = 0;
  for (const StageBytes& stage : stage_bytes(request)) bytes += static_cast<double>(stage.weights);
  return bytes / static_cast<double>(request.pricing.stages.size());
}

/// Adds a link from `from` to `to`, in front of all other links: so a search for a route between them takes this link.
void add_link(Platform& platform, const std::string& from, const std::string& to,
              const std::string& direction, const CopyTime& time) {
  const auto channel = static_cast<std::uint32_t>(platform.channels.size());
  platform.channels.push_back({.name = "fastest." + direction, .bandwidth = time.bandwidth});
  platform.edges.insert(platform.edges.begin(), {.from = from,
                                                 .to = to,
                                                 .link = "fastest",
                                                 .direction = direction,
                                                 .channels = {channel},
                                                 .setup_s = time.setup_s,
                                                 .latency_s = time.latency_s});
}

/// Returns the copy time of the made-up path in place of two paths.
using TimeOfBoth = std::function<CopyTime(const Path& one, const Path& other)>;

/// Returns the platform `real` with a made-up path to and from each device in place of the paths to and from its two
/// memories.
Platform fastest_platform(const PlacedTurns& turns, bool all_slow, const Platform& real,
                          const TimeOfBoth& time) {
  const std::string& host = real.host().name;
  Platform platform = real;
  platform.lookup = {};
  platform.read_ports.clear();
  platform.write_ports.clear();
  for (const std::string& name : turns.of_policy.on.names) {
    const Device& device = real.device(name);
    const std::string &second = device.memories[1].pool,
                      &nearest = device.memory().own ? device.name : device.memory().pool,
                      &first = all_slow ? second : nearest;
    add_link(platform, host, nearest, "down",
             time(real.path(host, first), real.path(host, second)));
    add_link(platform, nearest, host, "up", time(real.path(first, host), real.path(second, host)));
  }
  return platform;
}

Platform fastest_platform(const PlacedTurns& turns, bool all_slow) {
  const Platform& real = turns.request.pricing.platform;
  const double bytes = mean_weight_bytes(turns.request);
  const bool training = turns.request.workload.training.has_value();
  return fastest_platform(turns, all_slow, real, [&](const Path& one, const Path& other) {
    return at_most(real, one, other, bytes, training);
  });
}

/// Returns the fastest platform with the share of each of several equal replicas. Only the links that belong to both
/// paths count, because they carry all copies.
Platform fastest_share(const PlacedTurns& turns, bool all_slow, const Platform& share) {
  return fastest_platform(turns, all_slow, share, [&](const Path& one, const Path& other) {
    return CopyTime{0, narrowest(share, common_channels(one, other)), 0};
  });
}

}  // namespace

FastestMachine::FastestMachine(const PlacedTurns& turns, const PlacedPrices& prices)
    : at_least_(turns.of_policy.at_least),
      any_fates_(turns.of_policy.any_fates),
      asked_(turns.request),
      devices_(turns.of_policy.on.names),
      cost_(std::make_unique<LeastCost>(prices, turns.way == all_slow_placement)),
      platform_(fastest_platform(turns, turns.way == all_slow_placement)),
      request_(turns.request.priced({turns.request.pricing.model, turns.request.pricing.stages,
                                     platform_, *cost_, turns.request.pricing.dtype,
                                     turns.request.pricing.training})) {
  request_.capacity_enforced = true;
  // In inference, no bound of placements in two memories counts several replicas.
  const EqualReplicas* const replicas = turns.request.replicas;
  if (!replicas || !asked_.workload.training) return;
  share_ = fastest_share(turns, turns.way == all_slow_placement, *replicas->share);
  replicas_ = *replicas;
  replicas_->share = &*share_;
  request_.replicas = &*replicas_;
}

double FastestMachine::seconds_of(std::int64_t bytes) {
  for (Device& device : platform_.devices)
    if (std::ranges::count(devices_, device.name) > 0) device.memory().capacity = bytes;
  return at_least_(request_) * within_accuracy;
}

std::vector<double> FastestMachine::seconds(const std::vector<std::int64_t>& sizes) {
  std::vector<double> all(sizes.size(), 0);
  if (!at_least_ || sizes.empty()) return all;
  const std::function<void(std::size_t, std::size_t)> find_between = [&](std::size_t first,
                                                                         std::size_t last) {
    if (last - first < 2) return;
    const std::size_t middle = std::midpoint(first, last);
    const bool equal = all[first] == all[last];
    all[middle] = equal ? all[first] : seconds_of(sizes[middle]);
    find_between(first, middle);
    find_between(middle, last);
  };
  all.front() = seconds_of(sizes.front());
  if (sizes.size() > 1) all.back() = seconds_of(sizes.back());
  find_between(0, sizes.size() - 1);
  return all;
}

double FastestMachine::seconds_with_any_fates() {
  if (!any_fates_) return 0;
  for (Device& device : platform_.devices) {
    if (std::ranges::count(devices_, device.name) == 0) continue;
    const Device& real = asked_.pricing.platform.device(device.name);
    const auto &first = real.memories[0].capacity, &second = real.memories[1].capacity;
    device.memory().capacity = {};
    if (asked_.capacity_enforced && first && second)
      device.memory().capacity = checked_add(*first, *second, "bytes of two memories");
  }
  return any_fates_(request_) * within_accuracy;
}

}  // namespace sluice
