#include "policy/settle/replicas.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "base/error.hpp"
#include "base/never.hpp"
#include "fates/optimal/report.hpp"
#include "plan/passes/all_reduce.hpp"
#include "plan/passes/merge.hpp"
#include "planning/placement/backing.hpp"
#include "planning/replica.hpp"
#include "planning/run_seconds.hpp"
#include "planning/run_seconds_below.hpp"
#include "policy/settle/one_replica.hpp"
#include "policy/settle/ring_seconds.hpp"
#include "policy/settle/settle.hpp"
#include "workload/rounds.hpp"

namespace sluice {

namespace {

/// Returns the connection from one memory to another, by which replicas sum their gradients.
RingHop hop(const Platform& platform, const std::string& from, const std::string& to) {
  const Path& path = platform.path(from, to);
  return {.stream = {path.stream, StreamKind::copy, path.device},
          .route = {path.name, path.channels, path.setup_s, path.latency_s}};
}

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

bool few_replicas(const PolicyRequest& request, const Reader& parameters) {
  constexpr std::int64_t always_few = 8, most_passes = 4000;
  const std::vector<std::string> devices = replica_devices(request, parameters);
  const auto count = static_cast<std::int64_t>(devices.size());
  if (count <= always_few) return true;
  // The first replica has the most micro-batches. It passes each layer once for each of them. Over a ring, it sends and
  // gets 2 (count - 1) pieces of each layer's gradients.
  const std::int64_t pieces = sums_gradients(request.workload, parameters) ? 2 * (count - 1) : 0;
  const std::int64_t passes =
      share_of(request.workload, 0, count).micro_batches_per_step() + pieces;
  const auto layers = static_cast<std::int64_t>(request.pricing.model.layers.size());
  return passes <= most_passes / count / layers;
}

bool have_two_memories(const Platform& platform, const std::vector<std::string>& devices) {
  return std::ranges::all_of(devices, [&](const std::string& device) {
    return platform.device(device).memories.size() > 1;
  });
}

bool names_placement(const Policy& policy, const Reader& parameters) {
  if (std::ranges::count(policy.parameters, "placement", &Field::name) == 0) return false;
  const std::string way = parameters.text("placement");
  return way != "none" && way != "auto" && way != backing;
}

bool delay_each_other(const PolicyRequest& request, const Reader& parameters) {
  const std::vector<std::string> devices = replica_devices(request, parameters);
  const Platform& platform = request.pricing.platform;
  return (devices.size() > 1 && sums_gradients(request.workload, parameters)) ||
         share_links(platform, shared_out(platform, devices)) ||
         (have_two_memories(platform, devices) && share_any_links(platform, devices));
}

namespace {

/// Limits the first memory of the device, if it has no limit yet. For a replica of `resident` in inference, a smaller
/// limit than the bytes of its placement would not tell with how much memory the replica chooses this placement.
void stay_within_first(Plan& plan, const std::string& device, std::int64_t bytes) {
  const auto pool = std::ranges::find(plan.pools, device, &Pool::name);
  if (pool != plan.pools.end() && !pool->limit && pool->limited() && bytes <= pool->most())
    pool->limit = bytes;
}

/// Returns whether the plan of the replica on this device stays within the device's memory on the platform.
bool stays_within(const Plan& plan, const Platform& platform, const std::string& device) {
  const auto pool = std::ranges::find(plan.pools, device, &Pool::name);
  const std::optional<std::int64_t>& capacity = platform.device(device).memory().capacity;
  return pool != plan.pools.end() && pool->limit && (!capacity || *pool->limit <= *capacity);
}

}  // namespace

bool ReplicaPlans::chose() const {
  return std::ranges::any_of(
      chosen_s, [](const std::optional<double>& seconds) { return seconds.has_value(); });
}

ReplicaPlans replica_plans(const Policy& policy, const PolicyRequest& request,
                           const Reader& parameters, const Platform& chosen_on, double worth,
                           KnownReplicas* known) {
  const Record record = record_of(policy);
  const std::vector<std::string> devices = replica_devices(request, parameters);
  const auto count = static_cast<std::int64_t>(devices.size());
  const Platform& platform = request.pricing.platform;
  ReplicaPlans parts;
  const auto add = [&parts](Plan plan, std::optional<double> chosen_s) {
    parts.plans.push_back(std::move(plan));
    parts.chosen_s.push_back(chosen_s);
  };
  std::vector<std::size_t> planned;  // the first of each set of equal replicas
  if (known) known->shown_plans.resize(devices.size());
  for (std::size_t k = 0; k < devices.size(); ++k) {
    if (known && k < known->last.plans.size() &&
        stays_within(known->last.plans[k], chosen_on, devices[k])) {
      add(known->last.plans[k], known->last.chosen_s[k]);
      continue;
    }
    const Workload workload = share_of(request.workload, static_cast<std::int64_t>(k), count);
    const auto same = std::find_if(planned.begin(), planned.end(), [&](std::size_t before) {
      return share_of(request.workload, static_cast<std::int64_t>(before), count)
                     .batches_per_step == workload.batches_per_step &&
             alike(platform, devices[before], devices[k]);
    });
    if (same != planned.end()) {
      add(moved(parts.plans[*same], platform, devices[*same], devices[k]), parts.chosen_s[*same]);
      continue;
    }
    const Value keys = replica_keys(parameters, policy.name, devices[k]);
    PolicyRequest replica = request_of_replica(chosen_on, request, workload, parameters);
    ShownPlans* const shown = known ? &known->shown_plans[k] : nullptr;
    if (shown) shown->bytes_of_placement.reset();
    replica.shown_plans = shown;
    Settlement settled = settle(policy, replica, Reader(keys, record), worth);
    if (shown && settled.chosen_s && *settled.chosen_s < worth) shown->at_least = *settled.chosen_s;
    if (shown && !workload.training && !settled.chosen_s && shown->bytes_of_placement)
      stay_within_first(settled.plan, devices[k], *shown->bytes_of_placement);
    add(std::move(settled.plan), settled.chosen_s);
    planned.push_back(k);
  }
  return parts;
}

void take_bandwidths(Plan& plan, const Platform& platform) {
  for (Link& link : plan.links)
    for (const Channel& channel : platform.channels)
      if (channel.name == link.name) link.bandwidth = channel.bandwidth;
}

namespace {

/// Returns whether a link of the plan is slower than on the platform.
bool has_slower_links(const Plan& plan, const Platform& platform) {
  Plan as_on_platform = plan;
  take_bandwidths(as_on_platform, platform);
  for (std::size_t k = 0; k < plan.links.size(); ++k)
    if (plan.links[k].bandwidth < as_on_platform.links[k].bandwidth) return true;
  return false;
}

/// Returns the runs of the replicas alone. Only replicas that state a gap need them: the result has no other replicas.
std::map<std::string, RunAlone> runs_alone(const std::vector<Plan>& parts,
                                           const std::vector<std::string>& devices,
                                           const Platform& platform) {
  std::map<std::string, RunAlone> alone;
  for (std::size_t k = 0; k < parts.size(); ++k)
    if (find_fact(parts[k].facts, "gap"))
      alone[devices[k]] = {run_seconds(parts[k]), !has_slower_links(parts[k], platform)};
  return alone;
}

}  // namespace

ReplicaTransfers transfers_of(const Reader& parameters) {
  const std::string how = parameters.text("transfers");
  return how == "auto"       ? ReplicaTransfers::any
         : how == "together" ? ReplicaTransfers::together
                             : ReplicaTransfers::in_turn;
}

Plan joined_together(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                     std::vector<Plan> parts) {
  const std::vector<std::string> devices = replica_devices(request, parameters);
  const Platform& platform = request.pricing.platform;
  Plan plan = merge(with_equal_rounds(std::move(parts)), devices);
  take_bandwidths(plan, platform);
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
  return plan;
}

TimedPlan joined(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                 std::vector<Plan> parts, double worth) {
  const std::map<std::string, RunAlone> alone =
      runs_alone(parts, replica_devices(request, parameters), request.pricing.platform);
  Plan plan = joined_together(policy, request, parameters, std::move(parts));
  if (worth < never && least_seconds_of(plan) >= worth) return {std::move(plan), never};
  TimedPlan all = with_transfers(std::move(plan), transfers_of(parameters));
  if (!alone.empty()) state_for_all_replicas(all.plan.facts, alone, all.seconds());
  return all;
}

TimedPlan replicated(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                     const Platform& chosen_on) {
  return joined(policy, request, parameters,
                replica_plans(policy, request, parameters, chosen_on).plans);
}

TimedPlan plan_of_replicas(const Policy& replicating, const PolicyRequest& request,
                           const Reader& parameters) {
  const Policy& policy = acting_policy(replicating, parameters);
  const std::vector<std::string> devices = replica_devices(request, parameters);
  const Platform& whole = request.pricing.platform;
  const Platform share = shared_out(whole, devices);
  const bool shares = share_links(whole, share);
  if (shares && !few_replicas(request, parameters))
    return replicated(policy, request, parameters, share);
  ReplicaPlans parts = replica_plans(policy, request, parameters, whole);
  const bool chose = request.workload.training || parts.chose();
  TimedPlan plan = joined(policy, request, parameters, std::move(parts.plans));
  if (!shares || !chose) return plan;
  TimedPlan other = replicated(policy, request, parameters, share);
  plan.known_s = plan.seconds();
  other.known_s = other.seconds();
  return *other.known_s < *plan.known_s ? std::move(other) : std::move(plan);
}

namespace {

/// Takes a candidate of the first replica. Keeps the text of its ways as long as each candidate so far has such a text.
void take(ReplicaBound& bound, const Candidate& one, double at_least, bool first) {
  bound.seconds = std::min(bound.seconds, std::max(at_least, one.at_least));
  if (first || !bound.same_ways.empty()) bound.same_ways += one.same_ways + ";";
  if (one.same_ways.empty()) bound.same_ways.clear();
}

}  // namespace

ReplicaBound bound_of_ways(const std::vector<Candidate>& all, bool opens) {
  ReplicaBound bound;
  if (!all.empty()) bound.seconds = std::numeric_limits<double>::infinity();
  bool is_first = true;
  for (const Candidate& one : all) {
    bound.ways += one.ways;
    std::vector<Candidate> parts;
    if (one.open && opens)
      parts = one.open();
    else
      parts.push_back(one);
    for (const Candidate& part : parts) {
      take(bound, part, one.at_least, is_first);
      is_first = false;
    }
  }
  return bound;
}

ReplicaBound bound_of_replicas(const Policy& policy, const PolicyRequest& request,
                               const Reader& parameters, bool opens, ShownPlans* known) {
  ReplicaBound bound;
  if (policy.candidates) {
    OneReplica first(policy, request, parameters);
    const TogetherKnown together(request, parameters);
    first.request.replicas = together.replicas(request);
    first.request.shown_plans = known;
    bound = bound_of_ways(policy.candidates(first.request, first.keys.reader()), opens);
  }
  if (sums_gradients(request.workload, parameters))
    bound.seconds =
        std::max(bound.seconds, all_reduce_seconds(request, replica_devices(request, parameters)));
  return bound;
}

Plan one_replica(const Policy& policy, const PolicyRequest& request, const Reader& parameters,
                 const Platform& chosen_on) {
  const OneReplica first(policy, request, parameters, chosen_on);
  return settle(policy, first.request, first.keys.reader()).plan;
}

namespace {

/// Returns the parameters of the replicating policy, with what `way` changes in the keys of the first replica.
Value for_all_replicas(const Value& way, const OneReplica& first, const Reader& parameters) {
  Value map = parameters.map();
  for (const Value::Entry& entry : way.entries()) {
    const Value* asked = first.keys.map().find(entry.key);
    if (entry.value.is_scalar() && (!asked || asked->text() != entry.value.text()))
      map.set(entry.key, entry.value);
  }
  return map;
}

}  // namespace

std::vector<Value> ways_of_replicas(const Policy& policy, const PolicyRequest& request,
                                    const Reader& parameters) {
  const OneReplica first(policy, request, parameters);
  std::vector<Value> settled;
  if (policy.alternatives) settled = policy.alternatives(first.request, first.keys.reader());
  settled = with_counts_of_training(policy, first, std::move(settled));
  std::vector<Value> ways;
  if (settled.empty() || !plan_alike(request, parameters)) ways.push_back(parameters.map());
  for (const Value& way : settled) ways.push_back(for_all_replicas(way, first, parameters));
  return ways;
}

std::vector<Value> counts_of_replicas(const Policy& policy, const PolicyRequest& request,
                                      const Reader& parameters) {
  const OneReplica first(policy, request, parameters);
  std::vector<Value> counts;
  for (const Value& way : with_counts_of_training(policy, first, {}))
    counts.push_back(for_all_replicas(way, first, parameters));
  return counts;
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
