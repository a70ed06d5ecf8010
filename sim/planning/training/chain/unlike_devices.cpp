#include "planning/training/chain/unlike_devices.hpp"

#include <algorithm>
#include <cstddef>

#include "base/never.hpp"

namespace sluice {

namespace {

ChainOnDevices priced_on(const PolicyRequest& request, const TrainingOrder& order,
                         const PassOptions& passes, const std::string& name) {
  const Device& device = request.pricing.platform.device(name);
  return {chain_of(request, device, passes), states_of(request, device, passes, order.staying)};
}

/// Gives the loads of each boundary the seconds of the fastest device that may load it: the devices whose stages read
/// it, and the device that makes it, if the backward pass there reads it.
void load_fastest(ChainOnDevices& all) {
  const std::size_t stages = all.chain.stages.size(), devices = all.on_devices.size();
  std::vector<double> fastest(stages + 1, never);
  for (std::size_t s = 0; s < stages; ++s) {
    const Chain& own = all.on_devices[s % devices];
    const auto may_load = [&](std::size_t b) {
      fastest[b] = std::min(fastest[b], own.boundary(b).load_s);
    };
    own.each_read(s, [&](std::size_t b, bool) { may_load(b); });
    if (own.stages[s].reads_output) may_load(s + 1);
  }
  const auto set = [&](ChainTensor& tensor, std::size_t b) {
    if (fastest[b] < never) tensor.load_s = fastest[b];
  };
  set(all.chain.input, 0);
  for (std::size_t s = 0; s < stages; ++s) set(all.chain.stages[s].output, s + 1);
}

}  // namespace

ChainOnDevices chain_on_devices(const PolicyRequest& request, const TrainingOrder& order,
                                const PassOptions& passes) {
  ChainOnDevices all = priced_on(request, order, passes, order.devices.front());
  if (devices_alike(request, order)) return all;
  all.on_devices = {all.chain};
  for (std::size_t d = 1; d < order.devices.size(); ++d) {
    ChainOnDevices own = priced_on(request, order, passes, order.devices[d]);
    all.chain.load_latency_s = std::min(all.chain.load_latency_s, own.chain.load_latency_s);
    for (std::size_t s = d; s < all.states.size(); s += order.devices.size()) {
      all.chain.stages[s] = own.chain.stages[s];
      all.states[s] = own.states[s];
    }
    all.on_devices.push_back(std::move(own.chain));
  }
  load_fastest(all);
  return all;
}

}  // namespace sluice
