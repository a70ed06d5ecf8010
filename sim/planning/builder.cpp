#include "planning/builder.hpp"

#include <algorithm>
#include <iterator>

#include "base/error.hpp"
#include "base/interrupt.hpp"

namespace sluice {

namespace {

/// Returns the device that owns the pool of this memory of the platform. Only one device may have the memory
/// (Device::memories), and it must be the first memory of this device. Other devices may reach it over links. A pool
/// with an owner grants requests in listing order. So an early load takes no bytes from a computation that is listed
/// before it. Returns "" if the pool has no owner: the pool of host memory, for example, never has an owner.
std::string only_device_of(const Platform& platform, const Memory& memory) {
  std::string only;
  if (memory.name == platform.host().name) return only;
  for (const Device& device : platform.devices)
    for (const DeviceMemory& reached : device.memories) {
      if (reached.own || reached.pool != memory.name) continue;
      if (!only.empty() || &reached != &device.memory()) return {};
      only = device.name;
    }
  return only;
}

}  // namespace

PlanBuilder::PlanBuilder(const Platform& platform, std::string name, bool enforce_capacity)
    : platform_(platform) {
  plan_.name = std::move(name);
  const auto add = [&](const std::string& pool, const std::optional<std::int64_t>& capacity,
                       const std::string& owner) {
    pools_[pool] = static_cast<std::uint32_t>(plan_.pools.size());
    plan_.pools.push_back({pool, capacity, owner, enforce_capacity});
  };
  for (const Device& device : platform.devices)
    for (const DeviceMemory& memory : device.memories)
      if (memory.own)
        add(&memory == &device.memory() ? device.name : memory.pool, memory.capacity, device.name);
  for (const Memory& memory : platform.memories)
    add(memory.name, memory.capacity, only_device_of(platform, memory));
  // The name of a device stands for the device's first memory.
  for (const Device& device : platform.devices)
    if (!device.memory().own) pools_[device.name] = pools_.at(device.memory().pool);
  for (const Channel& channel : platform.channels)
    plan_.links.push_back({channel.name, channel.bandwidth, channel.idle_w, channel.busy_w});
}

std::uint32_t PlanBuilder::pool(const std::string& node) const {
  auto found = pools_.find(node);
  if (found == pools_.end()) throw InternalError("no pool called '" + node + "'");
  return found->second;
}

std::uint32_t PlanBuilder::tensor(std::string name, TensorClass tensor_class, std::int64_t bytes,
                                  const std::string& home) {
  plan_.tensors.push_back({.name = named_ ? unique_name(std::move(name)) : std::string(),
                           .tensor_class = tensor_class,
                           .bytes = bytes,
                           .home = home.empty() ? none : pool(home)});
  return static_cast<std::uint32_t>(plan_.tensors.size() - 1);
}

PlanBuilder::Ref PlanBuilder::compute(ActionKind kind, const std::string& device,
                                      std::int32_t stage, std::int32_t micro_batch,
                                      std::int64_t samples) {
  Action action;
  action.kind = kind;
  action.stream = stream(device + ".compute", StreamKind::compute, device);
  action.stage = stage;
  action.micro_batch = micro_batch;
  action.samples = samples;
  const std::uint32_t units = action.stream;
  const Ref ref = add(std::move(action));
  take_turn(ref, units, /*copies=*/false);
  return ref;
}

PlanBuilder::Ref PlanBuilder::transfer(ActionKind kind, std::uint32_t tensor,
                                       const TransferEnds& ends, std::int32_t stage,
                                       std::int32_t micro_batch) {
  Action action;
  action.kind = kind;
  action.stage = stage;
  action.micro_batch = micro_batch;
  const std::uint32_t from = pool(ends.from), to = pool(ends.to);
  action.flows.push_back({tensor, from, to, none, plan_.tensors[tensor].bytes});
  if (const auto way = copy_routes_.find({from, to}); way != copy_routes_.end()) {
    if (ends.synchronous)
      throw InputError("the link that way() added from '" + ends.from + "' to '" + ends.to +
                       "' is for a copy engine: compute units cannot copy over it");
    action.flows.front().route = way->second.route;
    action.stream = stream(way->second.stream, StreamKind::copy, way->second.device);
  } else {
    const Path& path = platform_.path(
        ends.from, ends.to, ends.synchronous ? CopyMode::synchronous : CopyMode::asynchronous);
    if (ends.synchronous && !platform_.device_or_null(path.device))
      throw InputError("no device can use its compute units to copy from '" + ends.from + "' to '" +
                       ends.to + "': neither memory belongs to one device alone");
    action.stream = stream(path.stream, StreamKind::copy, path.device);
    if (ends.synchronous) action.flows.front().route = synchronous_route(path);
  }
  if (ends.release) action.uses.push_back({tensor, from});
  if (ends.allocate) action.allocates.push_back({tensor, to});
  const std::string device = plan_.streams[action.stream].device;
  const Ref ref = add(std::move(action));
  if (ends.synchronous)
    take_turn(ref, stream(device + ".compute", StreamKind::compute, device), /*copies=*/true);
  return ref;
}

/// Returns the route of a copy that compute units make, and adds it if it is new. lower() finds only the routes of copy
/// engines.
std::uint32_t PlanBuilder::synchronous_route(const Path& path) {
  const auto [found, fresh] =
      synchronous_routes_.emplace(path.name, static_cast<std::uint32_t>(plan_.routes.size()));
  if (fresh) plan_.routes.push_back({path.name, path.channels, path.setup_s, path.latency_s});
  return found->second;
}

/// Adds the waits of an action on a device's compute units. If `copies` is true, the action is a copy that the units
/// make. A copy waits for the units' action before it, and the units' next action waits for the copy.
void PlanBuilder::take_turn(Ref ref, std::uint32_t units, bool copies) {
  if (turns_.size() <= units) turns_.resize(units + 1);
  Turns& turns = turns_[units];
  if (copies || turns.last.copies) wait(ref, turns.last.ref);
  turns.last = {ref, copies};
  if (section_ != Section::body) return;
  if (!turns.first_of_body.ref) turns.first_of_body = turns.last;
  turns.last_of_body = turns.last;
}

/// Adds waits from one iteration to the next for compute units that make copies. If their first or last action in the
/// body is a copy, the first action waits for the last action of the previous iteration.
void PlanBuilder::close_turns() {
  for (const Turns& turns : turns_)
    if (turns.first_of_body.copies || turns.last_of_body.copies)
      wait(turns.first_of_body.ref, turns.last_of_body.ref, 1);
}

void PlanBuilder::flow(Ref ref, std::uint32_t tensor, const std::string& from,
                       const std::string& to, std::int64_t bytes) {
  Flow flow{tensor, pool(from), pool(to), none, bytes};
  if (const auto way = copy_routes_.find({flow.from, flow.to}); way != copy_routes_.end())
    flow.route = way->second.route;
  else
    platform_.path(from, to);  // throws InputError if no links connect the two memories
  at(ref).flows.push_back(flow);
}

void PlanBuilder::memory(const std::string& name, const std::string& device,
                         std::optional<std::int64_t> capacity) {
  const bool enforce = plan_.pools.empty() || plan_.pools.front().enforced;
  pools_[name] = static_cast<std::uint32_t>(plan_.pools.size());
  plan_.pools.push_back({name, capacity, device, enforce});
}

void PlanBuilder::way(const std::string& from, const std::string& to, double bandwidth,
                      double setup_s, double latency_s) {
  const Pool &source = plan_.pools[pool(from)], &target = plan_.pools[pool(to)];
  const std::string device = source.owner.empty() ? target.owner : source.owner;
  const std::string name = from + ">" + to;
  const auto link = static_cast<std::uint32_t>(plan_.links.size());
  const auto route = static_cast<std::uint32_t>(plan_.routes.size());
  plan_.links.push_back({name, bandwidth, 0, 0});
  plan_.routes.push_back({name, {link}, setup_s, latency_s});
  copy_routes_[{pool(from), pool(to)}] = {route, (device.empty() ? "" : device + ".") + name,
                                          device};
}

std::uint32_t PlanBuilder::collective(Collective collective) {
  plan_.collectives.push_back(std::move(collective));
  return static_cast<std::uint32_t>(plan_.collectives.size() - 1);
}

void PlanBuilder::wait(Ref ref, Ref on, std::uint32_t distance) {
  if (on) links_.push_back({ref, on, distance});
}

std::uint32_t PlanBuilder::stream(const std::string& name, StreamKind kind,
                                  const std::string& device) {
  auto [found, fresh] =
      streams_.try_emplace(name, static_cast<std::uint32_t>(plan_.streams.size()));
  if (fresh) {
    const Device* owner = platform_.device_or_null(device);
    const bool watts = owner && kind == StreamKind::compute;
    plan_.streams.push_back(
        {name, kind, device, watts ? owner->idle_w : 0, watts ? owner->busy_w : 0});
  }
  return found->second;
}

void refuse_long_plan(std::int64_t actions) {
  if (actions > most_actions)
    throw Infeasible(
        "the plan would list more than " + std::to_string(most_actions) +
        " actions, which is the limit of Sluice: this policy lists an action for each "
        "micro-batch of a step and each stage. Use larger micro-batches "
        "(workload.micro_batch), fewer stages (stages.cut), or smaller steps (fewer "
        "workload.batches_per_step, more workload.steps). A training run of a single batch, "
        "or without an optimizer, may list fewer actions, too");
}

void refuse_long_round(std::int64_t micro_batches, std::size_t actions_each) {
  if (micro_batches < 1) return;
  const auto each = static_cast<std::int64_t>(actions_each);
  if (each > most_actions / micro_batches) refuse_long_plan(most_actions + 1);
}

PlanBuilder::Ref PlanBuilder::add(Action action) {
  check_interrupt();  // A step with a million micro-batches takes long to list.
  refuse_long_plan(++added_);
  if (named_) action.name = own_name(action);
  auto& actions = actions_[static_cast<std::size_t>(section_)];
  actions.push_back(std::move(action));
  return {section_, static_cast<std::uint32_t>(actions.size() - 1)};
}

/// Returns the name that is to be stored for an action. The usual name consists of kind, stage and micro-batch, and is
/// not stored: the result is empty. If an earlier action has the usual name already, the result is this name with '2,
/// '3, … behind it.
std::string PlanBuilder::own_name(const Action& action) {
  const int taken =
      names_[static_cast<std::size_t>(section_)][{action.kind, action.stage, action.micro_batch}]++;
  return taken == 0 ? "" : name_of(action) + "'" + std::to_string(taken + 1);
}

std::string PlanBuilder::unique_name(std::string tensor) {
  int& taken = tensor_names_[tensor];  // This reference stays valid when other names are added.
  if (taken++ == 0) return tensor;
  for (;; ++taken) {
    std::string name = tensor + "'" + std::to_string(taken);
    if (tensor_names_.try_emplace(name, 1).second) return name;
  }
}

Plan PlanBuilder::finish(std::int64_t iterations, std::int64_t steps_per_iteration) {
  close_turns();
  plan_.body_begin = static_cast<std::uint32_t>(actions_[0].size());
  plan_.body_end = plan_.body_begin + static_cast<std::uint32_t>(actions_[1].size());
  const std::array<std::uint32_t, 3> base = {0, plan_.body_begin, plan_.body_end};
  auto number = [&](Ref ref) { return base[static_cast<std::size_t>(ref.section)] + ref.position; };
  plan_.actions = std::move(actions_[1]);  // most actions are in the body
  plan_.actions.reserve(base[2] + actions_[2].size());
  const auto insert = [&](auto where, std::vector<Action>& section) {
    plan_.actions.insert(where, std::make_move_iterator(section.begin()),
                         std::make_move_iterator(section.end()));
  };
  insert(plan_.actions.begin(), actions_[0]);
  insert(plan_.actions.end(), actions_[2]);
  for (const Link& link : links_)
    plan_.actions[number(link.from)].waits.push_back({number(link.to), link.distance});
  for (const Link& start : starts_) {
    auto& waits = plan_.actions[number(start.from)].waits;
    const std::vector<Wait> own(waits.begin(), waits.end());
    for (Wait wait : plan_.actions[number(start.to)].waits) {
      wait.distance += start.distance;
      if (std::find(own.begin(), own.end(), wait) == own.end()) waits.push_back(wait);
    }
  }
  plan_.iterations = plan_.body_begin == plan_.body_end ? 0 : iterations;
  plan_.steps_per_iteration = steps_per_iteration;
  return std::move(plan_);
}

}  // namespace sluice
