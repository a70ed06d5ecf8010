#include "policy/settle/one_replica.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "planning/replica.hpp"
#include "policy/settle/replicas.hpp"
#include "policy/settle/replicas_alone.hpp"
#include "policy/settle/ring_seconds.hpp"

namespace sluice {

Value replica_keys(const Reader& parameters, const std::string& policy, const std::string& device) {
  Value keys = Value::make_map();
  keys.place(parameters.map().source(), parameters.map().line(),
             parameters.map().position().column);
  keys.set("name", Value::make(policy));
  for (const Value::Entry& entry : parameters.map().entries())
    if (entry.key != "name" && entry.key != "replica" && entry.key != "devices" &&
        entry.key != "all_reduce" && entry.key != "transfers")
      keys.entries().push_back(entry);
  if (const Value* own = keys.find("device"))
    fail_at(*own,
            "each replica has its own device: list all devices under 'devices', and remove "
            "this key");
  keys.set("device", Value::make(device));
  return keys;
}

bool sums_gradients(const Workload& workload, const Reader& parameters) {
  return workload.training && parameters.text("all_reduce") != "off";
}

PolicyRequest request_of_replica(const Platform& platform, const PolicyRequest& request,
                                 const Workload& workload, const Reader& parameters) {
  PolicyRequest share = request.priced(request.pricing.on(platform));
  share.workload = workload;
  share.sums_gradients = sums_gradients(workload, parameters);
  return share;
}

namespace {

bool all_alike(const Platform& platform, const std::vector<std::string>& devices) {
  return std::ranges::all_of(
      devices, [&](const std::string& device) { return alike(platform, devices.front(), device); });
}

/// Returns the devices of the replicas that compute as many batches as the first one. The others have fewer batches.
std::vector<std::string> with_most_batches(const PolicyRequest& request,
                                           std::vector<std::string> devices) {
  const auto count = static_cast<std::int64_t>(devices.size());
  if (!request.workload.training && request.workload.batches_per_step % count != 0)
    devices.resize(static_cast<std::size_t>(request.workload.batches_per_step % count));
  return devices;
}

}  // namespace

bool equal_replicas(const PolicyRequest& request, const std::vector<std::string>& devices) {
  return with_most_batches(request, devices).size() == devices.size() &&
         all_alike(request.pricing.platform, devices);
}

bool plan_alike(const PolicyRequest& request, const Reader& parameters) {
  const std::vector<std::string> devices = replica_devices(request, parameters);
  if (equal_replicas(request, devices)) return true;
  const Platform& platform = request.pricing.platform;
  if (request.workload.training || is_long_step(request) || !have_two_memories(platform, devices) ||
      !all_alike(platform, devices))
    return false;
  const auto has_cache = [](const Layer& layer) { return layer.cached > 0; };
  return std::ranges::none_of(request.pricing.model.layers, has_cache);
}

namespace {

/// Returns whether a link belongs to two of these paths: those between a device and host memory, and those by which the
/// devices sum gradients over a ring.
bool paths_share_links(const Platform& platform, const std::vector<std::string>& devices) {
  const std::string& host = platform.host().name;
  std::set<std::uint32_t> crossed;
  for (std::size_t k = 0; k < devices.size(); ++k)
    for (const Path* path : {&platform.path(host, devices[k]), &platform.path(devices[k], host),
                             &platform.path(devices[k], devices[(k + 1) % devices.size()])})
      for (const std::uint32_t channel : path->channels)
        if (!crossed.insert(channel).second) return true;
  return false;
}

}  // namespace

OneReplica::OneReplica(const Policy& policy, const PolicyRequest& all, const Reader& parameters,
                       const Platform& platform, const std::vector<std::string>& devices,
                       std::size_t replica)
    : request(request_of_replica(platform, all,
                                 share_of(all.workload, static_cast<std::int64_t>(replica),
                                          static_cast<std::int64_t>(devices.size())),
                                 parameters)),
      keys(replica_keys(parameters, policy.name, devices[replica]), record_of(policy)) {}

OneReplica::OneReplica(const Policy& policy, const PolicyRequest& all, const Reader& parameters,
                       const Platform& platform, std::size_t replica)
    : OneReplica(policy, all, parameters, platform, replica_devices(all, parameters), replica) {}

OneReplica::OneReplica(const Policy& policy, const PolicyRequest& all, const Reader& parameters)
    : OneReplica(policy, all, parameters, all.pricing.platform) {}

TogetherKnown::TogetherKnown(const PolicyRequest& request, const Reader& parameters)
    : devices_(replica_devices(request, parameters)),
      share_(shared_out(request.pricing.platform, with_most_batches(request, devices_))) {
  replicas_.share = &share_;
  if (!sums_gradients(request.workload, parameters) || devices_.size() < 2) return;
  replicas_.sums_share_links = paths_share_links(request.pricing.platform, devices_);
  RingSeconds ring = ring_seconds(request, devices_);
  replicas_.sums_s = std::move(ring.sums_s);
  replicas_.sums_differ_s = ring.sums_differ_s;
}

const EqualReplicas* TogetherKnown::replicas(const PolicyRequest& request) const {
  const auto one_memory = [&](const std::string& device) {
    return request.pricing.platform.device(device).memories.size() == 1;
  };
  const bool counted =
      request.workload.training || replicas_.joined || std::ranges::all_of(devices_, one_memory);
  const bool equal = replicas_.joined ? all_alike(request.pricing.platform, devices_)
                                      : equal_replicas(request, devices_);
  return counted && equal ? &replicas_ : nullptr;
}

}  // namespace sluice
