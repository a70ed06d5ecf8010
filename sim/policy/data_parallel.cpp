// data_parallel: replicas of another policy, one a device. They share the host's memory and
// whatever links and ports their routes share. In inference the batches of a step are dealt out
// among them; seed 004: "two IPUs to perform computation at the same time, in a data-parallel
// fashion". In training each batch is split among them, and gradients are all-reduced before each
// update.
#include <algorithm>
#include <numeric>
#include <set>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "execute/feasibility.hpp"
#include "plan/passes/all_reduce.hpp"
#include "plan/passes/merge.hpp"
#include "plan/passes/unroll.hpp"
#include "planning/replica.hpp"
#include "planning/run_seconds.hpp"
#include "planning/turns.hpp"
#include "policy/policy.hpp"
#include "policy/settle.hpp"

namespace sluice {

extern const Policy data_parallel_policy;

namespace {

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
                      "'" + devices[k] + "' stands twice in 'devices': one replica a device");
  if (workload.training && batches % devices.size() != 0)
    throw InputError(
        "the batch of " + std::to_string(workload.batch) + " samples is " +
        std::to_string(batches) + " micro-batches, which " + std::to_string(devices.size()) +
        " replicas cannot share equally: batch = micro-batch x accumulation x replicas");
  if (devices.size() > batches) devices.resize(batches);
  return devices;
}

/// The keys of the replicated policy: all of ours but our own, on one device.
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
    fail_at(*own, "each replica has a device of its own: list them under 'devices'");
  keys.set("device", Value::make(device));
  return keys;
}

/// Each device sends to the next, the last one to the first.
std::vector<RingHop> ring_of(const Platform& platform, const std::vector<std::string>& devices) {
  std::vector<RingHop> ring;
  for (std::size_t k = 0; k < devices.size(); ++k) {
    const std::string& next = devices[(k + 1) % devices.size()];
    if (next == devices[k]) break;
    const Path& path = platform.path(devices[k], next);
    ring.push_back({.from = devices[k],
                    .to = next,
                    .stream = {path.stream, StreamKind::copy, path.device},
                    .route = {path.name, path.channels, path.setup_s, path.latency_s}});
  }
  return ring;
}

/// Actions of a step that may be written out for the sake of their order.
constexpr std::int64_t longest_listed_step = 20'000;

/// Transfers of several replicas on one link: together, in turn, or whichever ends first.
Plan with_transfers(Plan plan, const std::string& how) {
  if (how == "together") return plan;
  // Whose turn it is may change from round to round: where a step is short, each has its own turns.
  const auto round = static_cast<std::int64_t>(plan.body_end - plan.body_begin);
  const bool short_step = round * plan.iterations_per_step <= longest_listed_step;
  std::optional<Plan> turns = in_turn(short_step ? unroll(plan, plan.iterations_per_step) : plan);
  if (!turns || blocks(*turns)) return plan;
  if (how == "auto") {
    const double together_s = run_seconds(plan), in_turn_s = run_seconds(*turns);
    turns->facts.emplace_back("transfers", "in turn");
    turns->facts.emplace_back("transfers_together_s", together_s, "s");
    plan.facts.emplace_back("transfers", "together");
    plan.facts.emplace_back("transfers_in_turn_s", in_turn_s, "s");
    if (!(in_turn_s < together_s)) return plan;
  }
  return std::move(*turns);
}

/// What replica number k computes: an equal part of each batch in training, else some batches.
Workload share_of(Workload workload, std::int64_t k, std::int64_t count) {
  if (workload.training)
    workload.batch /= count;
  else
    workload.batches_per_step = (workload.batches_per_step + count - 1 - k) / count;
  return workload;
}

/// The machine as one replica meets it: of each link and port that several replicas cross it has
/// its share. What a replica chooses by itself is chosen on that one.
Platform shared_out(Platform platform, const std::vector<std::string>& devices) {
  const std::string host = platform.host().name;
  std::vector<std::int64_t> replicas(platform.channels.size(), 0);
  for (const std::string& device : devices) {
    std::set<std::uint32_t> crossed;
    for (const Path* path : {&platform.path(host, device), &platform.path(device, host)})
      crossed.insert(path->channels.begin(), path->channels.end());
    for (const std::uint32_t channel : crossed) ++replicas[channel];
  }
  for (std::size_t c = 0; c < replicas.size(); ++c)
    if (replicas[c] > 1) platform.channels[c].bandwidth /= static_cast<double>(replicas[c]);
  return platform;
}

PolicyRequest on(const Platform& platform, const PolicyRequest& request, const Workload& workload) {
  const Pricing& pricing = request.pricing;
  PolicyRequest share = request.priced(
      {pricing.model, pricing.stages, platform, pricing.cost, pricing.dtype, pricing.training});
  share.workload = workload;
  return share;
}

/// As many iterations in each: where replicas repeat after different rounds, or have different
/// shares, the bodies of some are several of their rounds.
std::vector<Plan> with_equal_rounds(std::vector<Plan> parts) {
  std::int64_t iterations = 0;
  for (const Plan& part : parts) iterations = std::gcd(iterations, part.iterations);
  for (Plan& part : parts)
    if (part.iterations > iterations) part = unroll(part, part.iterations / iterations);
  return parts;
}

/// The replicas together, each as it chooses on `chosen_on`; they run on the platform of the
/// request.
Plan replicated(const PolicyRequest& request, const Reader& parameters, const Platform& chosen_on) {
  const Policy& policy = acting_policy(data_parallel_policy, parameters);
  const Record record = record_of(policy);
  const std::vector<std::string> devices = replica_devices(request, parameters);
  const auto count = static_cast<std::int64_t>(devices.size());
  const Platform& platform = request.pricing.platform;
  std::vector<Plan> parts;
  std::vector<std::size_t> planned;  // the first of those that are alike
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
    parts.push_back(settle(policy, on(chosen_on, request, workload), Reader(keys, record)));
    planned.push_back(k);
  }
  Plan plan = merge(with_equal_rounds(std::move(parts)), devices);
  for (Link& link : plan.links)
    for (const Channel& channel : platform.channels)
      if (channel.name == link.name) link.bandwidth = channel.bandwidth;
  plan.name = "data_parallel " + policy.name;
  const std::string all_reduce = parameters.text("all_reduce");
  if (request.workload.training && all_reduce != "off")
    add_all_reduce(plan, ring_of(platform, devices), all_reduce == "overlapped",
                   request.workload.batch / request.workload.micro_batch / count);
  return with_transfers(std::move(plan), parameters.text("transfers"));
}

/// With more devices one replica by itself says which cut and fates are best.
constexpr std::size_t few_devices = 8;

/// Where replicas share links, they choose on the whole machine or on their share of it: whichever
/// ends first.
Plan plan_data_parallel(const PolicyRequest& request, const Reader& parameters) {
  const std::vector<std::string> devices = replica_devices(request, parameters);
  const Platform& whole = request.pricing.platform;
  const Platform share = shared_out(whole, devices);
  const bool shares =
      !std::equal(whole.channels.begin(), whole.channels.end(), share.channels.begin(),
                  [](const Channel& a, const Channel& b) { return a.bandwidth == b.bandwidth; });
  if (shares && devices.size() > few_devices) return replicated(request, parameters, share);
  Plan plan = replicated(request, parameters, whole);
  if (!shares) return plan;
  Plan other = replicated(request, parameters, share);
  return run_seconds(other) < run_seconds(plan) ? other : plan;
}

/// What cuts and fates are compared by.
Plan plan_to_compare(const PolicyRequest& request, const Reader& parameters) {
  const Policy& policy = acting_policy(data_parallel_policy, parameters);
  const Record record = record_of(policy);
  const std::vector<std::string> devices = replica_devices(request, parameters);
  if (devices.size() <= few_devices) return plan_data_parallel(request, parameters);
  const Platform shared = shared_out(request.pricing.platform, devices);
  const Workload workload =
      share_of(request.workload, 0, static_cast<std::int64_t>(devices.size()));
  const Value keys = replica_keys(parameters, policy.name, devices.front());
  return settle(policy, on(shared, request, workload), Reader(keys, record));
}

}  // namespace

const Policy data_parallel_policy = {
    .name = "data_parallel",
    .summary =
        "Replicas of another policy, one a device; batches are dealt out (inference) or split, "
        "with "
        "gradients all-reduced (training).",
    .source =
        "seed 004; the usual data parallelism; Li et al., PyTorch distributed (2020), "
        "section 3.2 (overlap)",
    .parameters =
        {
            {.name = "replica",
             .type = Type::choice,
             .summary = "the policy of each replica, whose parameters stand beside",
             .choices = {}},  // those that are replicable
            {.name = "devices",
             .type = Type::list,
             .summary = "the devices of the replicas; all where not given",
             .optional = true},
            {.name = "all_reduce",
             .type = Type::choice,
             .summary = "training: gradients are summed over a ring of the replicas before each "
                        "update (without an optimizer at the end of the batch); overlapped: stage "
                        "by stage beside the backward pass; after: when "
                        "the whole backward pass has ended; off: each replica keeps its own",
             .default_text = "overlapped",
             .choices = {"overlapped", "after", "off"}},
            {.name = "transfers",
             .type = Type::choice,
             .summary =
                 "on a link that replicas share: together: shared fairly; in_turn: one after "
                 "the other; auto: whichever ends first",
             .default_text = "auto",
             .choices = {"auto", "together", "in_turn"}},
        },
    .modes = {{Mode::inference}, {Mode::training}},
    .all_devices = true,
    .replicates = true,
    .plan = plan_data_parallel,
    .alone = plan_to_compare,
};

}  // namespace sluice
