#include "planning/replica.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "execute/feasibility.hpp"
#include "plan/passes/unroll.hpp"
#include "planning/copy_time.hpp"
#include "planning/run_seconds.hpp"
#include "planning/turns.hpp"

namespace sluice {

namespace {

/// A step is short if all its rounds together have at most this many actions. If transfers take turns, the plan of a
/// short step lists all rounds of the step.
constexpr std::int64_t longest_listed_step = 20'000;

auto figures(const Device& device) {
  return std::tie(device.rate, device.efficiency, device.threads, device.roofline.compute,
                  device.roofline.memory, device.launch_overhead, device.idle_w, device.busy_w,
                  device.tiles, device.io_tiles);
}

/// Returns whether the memories of the two devices differ only in their names.
bool alike_memories(const Device& a, const Device& b) {
  return std::equal(a.memories.begin(), a.memories.end(), b.memories.begin(), b.memories.end(),
                    [](const DeviceMemory& x, const DeviceMemory& y) {
                      return x.own == y.own && (x.own || x.pool == y.pool) &&
                             x.capacity == y.capacity && x.read == y.read && x.write == y.write;
                    });
}

bool alike(const Platform& platform, const Path& a, const Path& b) {
  const auto figures = [&](std::uint32_t number) {
    const Channel& channel = platform.channels[number];
    return std::tie(channel.bandwidth, channel.idle_w, channel.busy_w);
  };
  return a.setup_s == b.setup_s && a.latency_s == b.latency_s &&
         std::equal(a.channels.begin(), a.channels.end(), b.channels.begin(), b.channels.end(),
                    [&](auto x, auto y) { return figures(x) == figures(y); });
}

/// Returns the memories that a plan for the device may use: host memory, then the memories of the device. The first
/// memory of a device has the name of the device.
std::vector<std::string> reached(const Platform& platform, const Device& device) {
  std::vector<std::string> nodes = {platform.host().name, device.name};
  for (std::size_t m = 1; m < device.memories.size(); ++m) nodes.push_back(device.memories[m].pool);
  return nodes;
}

/// For each device, there are paths between its memories, and between each of them and host memory. Returns whether the
/// paths of device `a` are as fast as the paths of device `b`, and need the same power. Both devices must have equally
/// many memories.
bool alike_links(const Platform& platform, const Device& a, const Device& b) {
  const std::vector<std::string> of_a = reached(platform, a), of_b = reached(platform, b);
  for (std::size_t from = 0; from < of_a.size(); ++from)
    for (std::size_t to = 0; to < of_a.size(); ++to) {
      if (from == to) continue;
      const Path* const one = platform.path_or_null(of_a[from], of_a[to]);
      const Path* const other = platform.path_or_null(of_b[from], of_b[to]);
      if ((one == nullptr) != (other == nullptr)) return false;
      if (one && !alike(platform, *one, *other)) return false;
    }
  return true;
}

}  // namespace

bool alike(const Platform& platform, const std::string& device, const std::string& other) {
  const Device &a = platform.device(device), &b = platform.device(other);
  return figures(a) == figures(b) && alike_memories(a, b) && alike_links(platform, a, b);
}

namespace {

/// Returns a map of names that gives device `a` the name of device `b`, and `b` the name of `a`. Their memories
/// exchange names, too: the second memory of `a` with the second memory of `b`, and so on.
std::map<std::string, std::string> exchanged(const Device& a, const Device& b) {
  std::map<std::string, std::string> names = {{a.name, b.name}, {b.name, a.name}};
  for (std::size_t m = 1; m < std::min(a.memories.size(), b.memories.size()); ++m) {
    if (!a.memories[m].own || !b.memories[m].own) continue;
    names[a.memories[m].pool] = b.memories[m].pool;
    names[b.memories[m].pool] = a.memories[m].pool;
  }
  return names;
}

}  // namespace

Plan moved(Plan plan, const Platform& platform, const std::string& from, const std::string& to) {
  const auto names = exchanged(platform.device(from), platform.device(to));
  for (Pool& pool : plan.pools)
    for (std::string* name : {&pool.name, &pool.owner})
      if (const auto other = names.find(*name); other != names.end()) *name = other->second;
  std::vector<char> routed(plan.routes.size(), 0), renamed(plan.streams.size(), 0);
  for (const Action& action : plan.actions)
    for (const Flow& flow : action.flows) {
      const bool copies = action.is_transfer() && !renamed[action.stream];
      if (routed[flow.route] && !copies) continue;
      const Path& path = platform.path(plan.pools[flow.from].name, plan.pools[flow.to].name);
      if (!std::exchange(routed[flow.route], 1))
        plan.routes[flow.route] = {path.name, path.channels, path.setup_s, path.latency_s};
      if (!copies) continue;
      renamed[action.stream] = 1;
      plan.streams[action.stream].name = path.stream;
      plan.streams[action.stream].device = path.device;
    }
  for (Stream& stream : plan.streams)
    if (stream.kind == StreamKind::compute && stream.device == from) {
      stream.name = to + ".compute";
      stream.device = to;
    }
  return plan;
}

namespace {

/// Returns the plan with all rounds of a step, if it has few of them: the best order of transfers may differ from round
/// to round, so each round gets its own. Returns nothing for a long step, and for a step of one round.
std::optional<Plan> with_all_rounds(const Plan& plan) {
  const auto round = static_cast<std::int64_t>(plan.body_end - plan.body_begin);
  const bool short_step = round * plan.iterations_per_step <= longest_listed_step;
  const bool unrolls = short_step && plan.iterations_per_step > 1;
  return unrolls ? unroll(plan, plan.iterations_per_step) : std::optional<Plan>();
}

}  // namespace

std::vector<Plan> orders_in_any_memory(const Plan& plan) {
  Plan unlimited = plan;
  for (Pool& pool : unlimited.pools) {
    pool.enforced = false;
    pool.limit.reset();
  }
  const std::optional<Plan> unrolled = with_all_rounds(unlimited);
  std::vector<Plan> orders = orders_in_turn(unrolled ? *unrolled : unlimited);
  for (Plan& order : orders) order.pools = plan.pools;
  return orders;
}

TimedPlan with_transfers(Plan plan, ReplicaTransfers how) {
  if (how == ReplicaTransfers::together) return {std::move(plan)};
  const std::optional<Plan> unrolled = with_all_rounds(plan);
  Turns turns = in_turn(unrolled ? *unrolled : plan);
  std::optional<double> together_s;
  if (!unrolled) together_s = turns.together_s;
  if (!turns.fastest) return {std::move(plan), together_s};
  if (how == ReplicaTransfers::any) {
    if (!together_s) together_s = run_seconds(plan);
    const double in_turn_s = turns.fastest->seconds();
    turns.fastest->plan.facts.emplace_back("transfers", "in turn");
    turns.fastest->plan.facts.emplace_back("transfers_together_s", *together_s, "s");
    plan.facts.emplace_back("transfers", "together");
    plan.facts.emplace_back("transfers_in_turn_s", in_turn_s, "s");
    if (!(in_turn_s < *together_s)) return {std::move(plan), together_s};
  }
  return std::move(*turns.fastest);
}

double seconds_of_busiest_link(std::span<const Plan> parts, const Platform& platform) {
  std::map<std::string, double> bytes;
  for (const Plan& part : parts)
    for (std::uint32_t a = 0; a < part.actions.size(); ++a)
      for (const Flow& flow : part.actions[a].flows)
        for (const std::uint32_t link : part.routes[flow.route].links)
          bytes[part.links[link].name] +=
              static_cast<double>(flow.bytes) * static_cast<double>(part.executions_of(a));
  double seconds = 0;
  for (const Channel& channel : platform.channels)
    if (const auto busy = bytes.find(channel.name); busy != bytes.end())
      seconds = std::max(seconds, busy->second / channel.bandwidth);
  return seconds * within_accuracy;
}

Workload share_of(Workload workload, std::int64_t k, std::int64_t count) {
  if (workload.training)
    workload.batch /= count;
  else
    workload.batches_per_step = (workload.batches_per_step + count - 1 - k) / count;
  return workload;
}

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

bool share_links(const Platform& whole, const Platform& share) {
  return !std::equal(whole.channels.begin(), whole.channels.end(), share.channels.begin(),
                     [](const Channel& a, const Channel& b) { return a.bandwidth == b.bandwidth; });
}

bool share_any_links(const Platform& platform, const std::vector<std::string>& devices) {
  std::set<std::uint32_t> crossed;
  std::set<std::string> seconds;
  for (const std::string& name : devices) {
    const Device& device = platform.device(name);
    const std::vector<std::string> nodes = reached(platform, device);
    std::set<std::uint32_t> own;
    for (const std::string& from : nodes)
      for (const std::string& to : nodes)
        if (const Path* path = from == to ? nullptr : platform.path_or_null(from, to))
          own.insert(path->channels.begin(), path->channels.end());
    for (const std::uint32_t channel : own)
      if (!crossed.insert(channel).second) return true;
    for (std::size_t m = 1; m < device.memories.size(); ++m)
      if (!seconds.insert(device.memories[m].pool).second) return true;
  }
  return false;
}

std::vector<Plan> with_equal_rounds(std::vector<Plan> parts) {
  std::int64_t iterations = 0;
  for (const Plan& part : parts) iterations = std::gcd(iterations, part.iterations);
  for (Plan& part : parts)
    if (part.iterations > iterations) part = unroll(part, part.iterations / iterations);
  return parts;
}

}  // namespace sluice
