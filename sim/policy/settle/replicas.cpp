#include "policy/settle/replicas.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "plan/passes/all_reduce.hpp"
#include "plan/passes/merge.hpp"
#include "planning/copy_time.hpp"
#include "planning/parts.hpp"
#include "planning/replica.hpp"
#include "planning/training/rounding.hpp"
#include "policy/settle/settle.hpp"

namespace sluice {

namespace {

/// Returns the keys of the replicated policy for one device: the keys of `parameters`, without those that only the
/// replicating policy has.
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

/// Returns the connection from one memory to another, by which replicas sum their gradients.
RingHop hop(const Platform& platform, const std::string& from, const std::string& to) {
  const Path& path = platform.path(from, to);
  return {.stream = {path.stream, StreamKind::copy, path.device},
          .route = {path.name, path.channels, path.setup_s, path.latency_s}};
}

/// Returns whether the replicas sum their gradients over a ring.
bool sums_gradients(const Workload& workload, const Reader& parameters) {
  return workload.training && parameters.text("all_reduce") != "off";
}

/// Returns the request for one replica on `platform`. `workload` must be the replica's share of the work.
PolicyRequest on(const Platform& platform, const PolicyRequest& request, const Workload& workload,
                 const Reader& parameters) {
  const Pricing& pricing = request.pricing;
  PolicyRequest share = request.priced(
      {pricing.model, pricing.stages, platform, pricing.cost, pricing.dtype, pricing.training});
  share.workload = workload;
  share.sums_gradients = sums_gradients(workload, parameters);
  return share;
}

/// The request of the first replica, and its keys. The platform must outlive this object.
struct OneReplica {
  OneReplica(const Policy& policy, const PolicyRequest& all, const Reader& parameters,
             const Platform& platform)
      : OneReplica(policy, all, parameters, platform, replica_devices(all, parameters)) {}
  OneReplica(const Policy& policy, const PolicyRequest& all, const Reader& parameters)
      : OneReplica(policy, all, parameters, all.pricing.platform) {}

  PolicyRequest request;
  Keys keys;

 private:
  OneReplica(const Policy& policy, const PolicyRequest& all, const Reader& parameters,
             const Platform& platform, const std::vector<std::string>& devices)
      : request(on(platform, all,
                   share_of(all.workload, 0, static_cast<std::int64_t>(devices.size())),
                   parameters)),
        keys(replica_keys(parameters, policy.name, devices.front()), record_of(policy)) {}
};

/// Returns mappings for the policy of a replica in training. If the scenario leaves open how many micro-batches are in
/// flight, there is one mapping for each of `ways` and each number that is tried. If `ways` is empty, the keys of the
/// replica take its place. If the number is not open, returns `ways`. While the gradients are summed, a replica can
/// only compute forward passes, and it has more of them with more micro-batches in flight.
std::vector<Value> with_counts_of_training(const Policy& policy, const OneReplica& replica,
                                           std::vector<Value> ways) {
  constexpr const char* name = "in_flight";
  const Workload& workload = replica.request.workload;
  const bool open = std::ranges::count(policy.parameters, name, &Field::name) > 0 &&
                    replica.keys.reader().is_word(name, "auto");
  if (!workload.training || !open) return ways;
  const std::vector<std::int64_t> counts =
      in_flight_choices(workload.batch / workload.micro_batch, 2);
  if (counts.size() == 1) return ways;
  if (ways.empty()) ways.push_back(replica.keys.map());
  std::vector<Value> all;
  for (const Value& way : ways)
    for (const std::int64_t count : counts) {
      all.push_back(way);
      all.back().set(name, Value::make(count));
    }
  return all;
}

/// Returns advice for a message: a size of batches or of micro-batches with which all replicas have equally many
/// micro-batches.
std::string equal_share(const Workload& workload, std::size_t replicas) {
  const auto count = static_cast<std::int64_t>(replicas);
  if (workload.batch % count != 0)
    return "; use a batch that is a multiple of " + std::to_string(replicas);
  std::int64_t size = std::min(workload.micro_batch, workload.batch / count);
  while (workload.batch / count % size != 0) --size;
  return "; use workload.micro_batch=" + std::to_string(size) +
         ": then the number of micro-batches of each replica is " +
         std::to_string(workload.batch / count / size);
}

/// Returns whether the replicas on these devices are equal: all compute equally many batches, and their devices are
/// alike.
bool equal_replicas(const PolicyRequest& request, const std::vector<std::string>& devices) {
  const auto count = static_cast<std::int64_t>(devices.size());
  return (request.workload.training || request.workload.batches_per_step % count == 0) &&
         std::all_of(devices.begin(), devices.end(), [&](const std::string& device) {
           return alike(request.pricing.platform, devices.front(), device);
         });
}

/// Returns the paths from the memories of one device to those of another. Gradients may be in the first two memories of
/// a device.
std::vector<const Path*> paths_between(const Platform& platform, const std::string& from,
                                       const std::string& to) {
  const auto memories = [&](const std::string& device) {
    std::vector<std::string> names = {device};
    const std::vector<DeviceMemory>& all = platform.device(device).memories;
    if (all.size() > 1) names.push_back(all[1].pool);
    return names;
  };
  std::vector<const Path*> paths;
  for (const std::string& first : memories(from))
    for (const std::string& second : memories(to))
      if (const Path* path = platform.path_or_null(first, second)) paths.push_back(path);
  return paths;
}

/// Returns a lower bound of the seconds in which the busiest copy engine between two devices sends its pieces of the
/// gradients in a run of training (plan/passes/all_reduce.hpp). The gradients of all stages are in the same memory of a
/// device.
double all_reduce_seconds(const PolicyRequest& request, const std::vector<std::string>& devices) {
  const Workload& workload = request.workload;
  const auto replicas = static_cast<std::int64_t>(devices.size());
  const double batches =
      static_cast<double>(workload.steps) * static_cast<double>(workload.batches_per_step);
  const auto pieces = static_cast<double>(2 * (replicas - 1));
  double busiest_s = 0;
  const Platform& platform = request.pricing.platform;
  for (std::size_t k = 0; replicas > 1 && k < devices.size(); ++k) {
    double least_s = std::numeric_limits<double>::infinity();
    for (const Path* path :
         paths_between(platform, devices[k], devices[(k + 1) % devices.size()])) {
      const double rate = narrowest(platform, path->channels);
      double seconds = 0;
      for (const Stage& stage : request.pricing.stages) {
        const std::int64_t bytes = workload.training->gradient_bytes(stage.weight_bytes);
        if (bytes == 0) continue;
        seconds += pieces * (path->setup_s + static_cast<double>(bytes / replicas) / rate);
      }
      least_s = std::min(least_s, seconds);
    }
    if (least_s < std::numeric_limits<double>::infinity()) busiest_s = std::max(busiest_s, least_s);
  }
  const double additions = batches * pieces * static_cast<double>(request.pricing.stages.size());
  return lowered_for_rounding(batches * busiest_s * within_accuracy, additions);
}

}  // namespace

std::vector<std::string> replica_devices(const PolicyRequest& request, const Reader& parameters) {
  const Platform& platform = request.pricing.platform;
  std::vector<std::string> devices;
  if (const Value* listed = parameters.value("devices"))
    for (const Value& name : listed->items())
      devices.push_back(located(name, [&] { return platform.device(name.text()).name; }));
  else
    for (const Device& device : platform.devices) devices.push_back(device.name);
  const Workload& workload = request.workload;
  const auto batches = static_cast<std::size_t>(
      workload.training ? workload.batch / workload.micro_batch : workload.batches_per_step);
  if (devices.empty()) parameters.fail("devices", "'devices' is empty");
  for (std::size_t k = 1; k < devices.size(); ++k)
    if (std::find(devices.begin(), devices.begin() + static_cast<long>(k), devices[k]) !=
        devices.begin() + static_cast<long>(k))
      parameters.fail("devices",
                      "'" + devices[k] + "' is listed twice in 'devices'; list each device once");
  if (workload.training && batches % devices.size() != 0)
    throw InputError(
        "the batch of " + std::to_string(workload.batch) + " samples is " +
        std::to_string(batches) + (batches == 1 ? " micro-batch" : " micro-batches") + ", which " +
        std::to_string(devices.size()) +
        " replicas cannot share equally; the rule is batch = micro-batch x accumulation x "
        "replicas" +
        equal_share(workload, devices.size()));
  if (devices.size() > batches) devices.resize(batches);
  return devices;
}

bool delay_each_other(const PolicyRequest& request, const Reader& parameters) {
  const std::vector<std::string> devices = replica_devices(request, parameters);
  const Platform& platform = request.pricing.platform;
  return (devices.size() > 1 && sums_gradients(request.workload, parameters)) ||
         share_links(platform, shared_out(platform, devices));
}

std::vector<Plan> replica_plans(const Policy& policy, const PolicyRequest& request,
                                const Reader& parameters, const Platform& chosen_on) {
  const Record record = record_of(policy);
  const std::vector<std::string> devices = replica_devices(request, parameters);
  const auto count = static_cast<std::int64_t>(devices.size());
  const Platform& platform = request.pricing.platform;
  std::vector<Plan> parts;
  std::vector<std::size_t> planned;  // the first of each set of equal replicas
  for (std::size_t k = 0; k < devices.size(); ++k) {
    const Workload workload = share_of(request.workload, static_cast<std::int64_t>(k), count);
    const auto same = std::find_if(planned.begin(), planned.end(), [&](std::size_t before) {
      return share_of(request.workload, static_cast<std::int64_t>(before), count)
                     .batches_per_step == workload.batches_per_step &&
             alike(platform, devices[before], devices[k]);
    });
    if (same != planned.end()) {
      parts.push_back(moved(parts[*same], platform, devices[*same], devices[k]));
      continue;
    }
    const Value keys = replica_keys(parameters, policy.name, devices[k]);
    parts.push_back(
        settle(policy, on(chosen_on, request, workload, parameters), Reader(keys, record)));
    planned.push_back(k);
  }
  return parts;
}

Plan joined(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
            std::vector<Plan> parts) {
  const std::vector<std::string> devices = replica_devices(request, parameters);
  const Platform& platform = request.pricing.platform;
  Plan plan = merge(with_equal_rounds(std::move(parts)), devices);
  for (Link& link : plan.links)
    for (const Channel& channel : platform.channels)
      if (channel.name == link.name) link.bandwidth = channel.bandwidth;
  for (Pool& pool : plan.pools)
    if (const Device* device = platform.device_or_null(pool.name))
      pool.capacity = device->memory().capacity;
  plan.name = "data_parallel " + policy.name;
  if (sums_gradients(request.workload, parameters))
    add_all_reduce(
        plan, devices,
        [&](const std::string& from, const std::string& to) { return hop(platform, from, to); },
        parameters.text("all_reduce") == "overlapped",
        request.workload.batch / request.workload.micro_batch /
            static_cast<std::int64_t>(devices.size()));
  return with_transfers(std::move(plan), parameters.text("transfers"));
}

Plan replicated(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                const Platform& chosen_on) {
  return joined(policy, request, parameters, replica_plans(policy, request, parameters, chosen_on));
}

ReplicaBound bound_of_replicas(const Policy& policy, const PolicyRequest& request,
                               const Reader& parameters) {
  ReplicaBound bound;
  if (policy.candidates) {
    const OneReplica first(policy, request, parameters);
    std::optional<double> least;
    for (const Candidate& one : policy.candidates(first.request, first.keys.reader())) {
      least = std::min(one.at_least, least.value_or(one.at_least));
      bound.ways += one.ways;
    }
    bound.seconds = least.value_or(0);
  }
  if (sums_gradients(request.workload, parameters))
    bound.seconds =
        std::max(bound.seconds, all_reduce_seconds(request, replica_devices(request, parameters)));
  return bound;
}

Plan one_replica(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                 const Platform& chosen_on) {
  const OneReplica first(policy, request, parameters, chosen_on);
  return settle(policy, first.request, first.keys.reader());
}

std::vector<Value> ways_of_replicas(const Policy& policy, const PolicyRequest& request,
                                    const Reader& parameters) {
  const OneReplica first(policy, request, parameters);
  std::vector<Value> settled;
  if (policy.alternatives) settled = policy.alternatives(first.request, first.keys.reader());
  settled = with_counts_of_training(policy, first, std::move(settled));
  std::vector<Value> ways;
  if (settled.empty() || !equal_replicas(request, replica_devices(request, parameters)))
    ways.push_back(parameters.map());
  for (const Value& way : settled) {
    ways.push_back(parameters.map());
    for (const Value::Entry& entry : way.entries()) {
      const Value* asked = first.keys.map().find(entry.key);
      if (entry.value.is_scalar() && (!asked || asked->text() != entry.value.text()))
        ways.back().set(entry.key, entry.value);
    }
  }
  return ways;
}

std::optional<Keys> without_overlap(const Policy& replicating, const Policy& policy, Value keys) {
  const bool open = std::any_of(policy.parameters.begin(), policy.parameters.end(),
                                [](const Field& field) { return field.name == "overlap"; });
  const Value* prefetch = keys.find("prefetch");
  const bool loads_early =
      prefetch && prefetch->text() != "auto" && prefetch->text() != "0";  // this needs overlap
  if (!open || loads_early || keys.find("overlap")) return std::nullopt;
  keys.set("overlap", Value::make(false));
  // The record is taken from the policy's entry in the catalog: only there, the key `replica` has the names of the
  // policies that can be replicated. In `replicating`, its list of choices is empty.
  return Keys(std::move(keys), record_of(policy_catalog().find(replicating.name)));
}

}  // namespace sluice
