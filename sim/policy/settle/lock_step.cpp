#include "policy/settle/lock_step.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

#include "planning/replica.hpp"
#include "planning/run_seconds.hpp"
#include "policy/settle/one_replica.hpp"
#include "policy/settle/replicas.hpp"

namespace sluice {

namespace {

/// Returns whether all replicas together make at most so many passes of a layer in a step. Over a ring, a replica sends
/// 2 (count - 1) pieces of each layer's gradients. Each of them counts as a pass.
bool make_at_most(std::int64_t most_passes, const PolicyRequest& request,
                  const Reader& parameters) {
  const auto count = static_cast<std::int64_t>(replica_devices(request, parameters).size());
  const std::int64_t pieces = sums_gradients(request.workload, parameters) ? 2 * (count - 1) : 0;
  // The first replica has the most micro-batches. It passes each layer once for each of them.
  const std::int64_t passes =
      share_of(request.workload, 0, count).micro_batches_per_step() + pieces;
  const auto layers = static_cast<std::int64_t>(request.pricing.model.layers.size());
  return passes <= most_passes / count / layers;
}

constexpr std::int64_t most_passes_of_few = 4000, most_passes_in_lock_step = 60'000;

/// Returns whether the devices differ only in names and in the capacities of their memories.
bool differ_in_capacity_only(Platform platform, const std::vector<std::string>& devices) {
  for (Device& device : platform.devices)
    for (DeviceMemory& memory : device.memories) memory.capacity.reset();
  return std::ranges::all_of(devices, [&](const std::string& device) {
    return platform.device(device).memories.size() == 1 && alike(platform, devices.front(), device);
  });
}

/// The channels of each replica, and the channel of the next replica that each of them corresponds to.
class Shift {
 public:
  /// Takes a path of a replica and that path of the next replica. Returns whether they are equal, and each channel
  /// corresponds to one channel only.
  bool take(const Platform& platform, const Path& one, const Path& next) {
    if (one.channels.size() != next.channels.size() || one.setup_s != next.setup_s ||
        one.latency_s != next.latency_s)
      return false;
    for (std::size_t c = 0; c < one.channels.size(); ++c) {
      const std::uint32_t from = one.channels[c], to = next.channels[c];
      if (platform.channels[from].bandwidth != platform.channels[to].bandwidth ||
          next_.try_emplace(from, to).first->second != to ||
          before_.try_emplace(to, from).first->second != from)
        return false;
    }
    return true;
  }

  /// Returns the channels that correspond to this one: its own, that of the next replica, and so on.
  std::vector<std::uint32_t> equal_to(std::uint32_t channel) const {
    std::vector<std::uint32_t> all = {channel};
    for (std::uint32_t next = next_.at(channel); next != channel; next = next_.at(next))
      all.push_back(next);
    return all;
  }

 private:
  std::map<std::uint32_t, std::uint32_t> next_, before_;
};

}  // namespace

bool few_replicas(const PolicyRequest& request, const Reader& parameters) {
  constexpr std::size_t always_few = 8;
  return replica_devices(request, parameters).size() <= always_few ||
         make_at_most(most_passes_of_few, request, parameters);
}

/// Sets `share_` and `hop_`. Returns whether the paths of all replicas are equal.
bool LockStep::has_equal_paths(const Platform& platform, bool sums) {
  const std::string& host = platform.host().name;
  const std::size_t n = devices_.size();
  const auto paths = [&](std::size_t k) {
    const std::string &device = devices_[k % n], &next = devices_[(k + 1) % n];
    std::vector<const Path*> all = {&platform.path(host, device), &platform.path(device, host)};
    if (sums) all.push_back(&platform.path(device, next));
    return all;
  };
  Shift shift;
  for (std::size_t k = 0; k < n; ++k) {
    const std::vector<const Path*> one = paths(k), next = paths(k + 1);
    for (std::size_t p = 0; p < one.size(); ++p)
      if (!shift.take(platform, *one[p], *next[p])) return false;
  }
  share_ = platform;
  std::map<std::uint32_t, std::uint32_t> of_first;  // by an equal channel
  const auto share = [&](const Path& path) {
    std::vector<std::uint32_t> channels;
    for (const std::uint32_t channel : path.channels) {
      if (!of_first.contains(channel)) {
        const std::vector<std::uint32_t> equal = shift.equal_to(channel);
        share_.channels[channel].bandwidth *=
            static_cast<double>(equal.size()) / static_cast<double>(n);
        for (const std::uint32_t other : equal) of_first[other] = channel;
      }
      channels.push_back(of_first.at(channel));
    }
    return channels;
  };
  const std::vector<const Path*> first = paths(0);
  share(*first[0]);
  share(*first[1]);
  if (!sums) return true;
  const Path& hop = *first[2];
  hop_ = {.stream = {hop.stream, StreamKind::copy, hop.device},
          .route = {hop.name, share(hop), hop.setup_s, hop.latency_s}};
  return true;
}

std::optional<LockStep> LockStep::of(const PolicyRequest& request, const Reader& parameters) {
  const Platform& platform = request.pricing.platform;
  if (!request.workload.training || request.strategy().searches ||
      transfers_of(parameters) == ReplicaTransfers::in_turn || few_replicas(request, parameters) ||
      !make_at_most(most_passes_in_lock_step, request, parameters))
    return {};
  LockStep all;
  all.devices_ = replica_devices(request, parameters);
  if (!differ_in_capacity_only(platform, all.devices_)) return {};
  const bool sums = sums_gradients(request.workload, parameters);
  if (!all.has_equal_paths(platform, sums)) return {};
  all.overlap_ = sums && parameters.text("all_reduce") == "overlapped";
  all.micro_batches_ = request.workload.batch / request.workload.micro_batch /
                       static_cast<std::int64_t>(all.devices_.size());
  return all;
}

double LockStep::least_seconds(Plan first) const {
  take_bandwidths(first, share_);
  if (hop_)
    add_all_reduce(
        first, {devices_.front()}, [this](const std::string&, const std::string&) { return *hop_; },
        overlap_, micro_batches_, static_cast<std::int64_t>(devices_.size()));
  return run_seconds(first);
}

bool judged_together(const PolicyRequest& request, const Reader& parameters) {
  return few_replicas(request, parameters) || LockStep::of(request, parameters).has_value();
}

}  // namespace sluice
