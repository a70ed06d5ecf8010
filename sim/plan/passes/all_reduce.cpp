#include "plan/passes/all_reduce.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.hpp"

namespace sluice {

namespace {

bool sums_gradients(ActionKind kind) {
  return record_of(kind).adds_gradients;
}

/// Returns the pool in which a computation or a load makes each tensor of gradients, by number of the tensor. A save
/// makes a copy in host memory, which is not meant here.
std::unordered_map<std::uint32_t, std::uint32_t> pools_of_gradients(const Plan& plan) {
  std::unordered_map<std::uint32_t, std::uint32_t> pools;
  const auto is_gradient = [&](std::uint32_t tensor) {
    return plan.tensors[tensor].tensor_class == TensorClass::gradient;
  };
  for (const Action& action : plan.actions)
    for (const Placement& made : action.allocates)
      if (action.kind != ActionKind::save && is_gradient(made.tensor))
        pools.emplace(made.tensor, made.pool);
  return pools;
}

/// What is known about the gradients of one stage on one device after one batch.
struct Sum {
  std::uint32_t ready = none;   ///< the backward pass after which the gradients may be sent
  std::uint32_t before = none;  ///< the ring is listed immediately before this action
  /// `user` is the action that needs the sums of the ring: the update, or the save of the gradients. If the gradients
  /// stay on the device, `user` is the next backward pass that adds to them. `distance` is 0 if `user` runs in the
  /// same iteration as the ring, and 1 if it runs in the next iteration.
  std::uint32_t user = none, distance = 0;
};

class Rings {
 public:
  Rings(Plan& plan, const std::vector<std::string>& devices, const RingHops& connection,
        bool overlap, std::int64_t micro_batches)
      : plan_(plan),
        devices_(devices),
        connection_(connection),
        pools_(pools_of_gradients(plan)),
        overlap_(overlap),
        micro_batches_(micro_batches) {
    for (std::uint32_t s = 0; s < plan.streams.size(); ++s)
      streams_.emplace(plan.streams[s].name, s);
    for (std::uint32_t r = 0; r < plan.routes.size(); ++r) routes_.emplace(plan.routes[r].name, r);
    for (std::uint32_t a = plan.body_begin; a < plan.actions.size(); ++a)
      of_device_[plan.streams[plan.actions[a].stream].device].push_back(a);
    for (std::uint32_t t = 0; t < plan.tensors.size(); ++t)
      if (const Tensor& tensor = plan.tensors[t]; tensor.gradients_of >= 0)
        gradients_.try_emplace({devices.at(tensor.part), tensor.gradients_of}, t);
  }

  void add() {
    for (const std::string& device : devices_) find_sums(device);
    before_.resize(plan_.actions.size() + 1);
    for (auto sums = sums_.rbegin(); sums != sums_.rend();
         ++sums) {  // later stages come first, because their backward passes end first
      if (sums->second.size() != devices_.size())
        throw InternalError("the replicas do not sum the gradients of a stage equally often");
      add_ring(sums->first.second, sums->first.first, sums->second);
    }
    rebuild();
  }

 private:
  using Key = std::pair<std::int64_t, std::int32_t>;  ///< (batch, stage)

  /// The first and the last backward pass of each batch and stage on one device. Backward passes that do not add
  /// to gradients are ignored.
  struct Passes {
    std::map<Key, std::uint32_t> first, last;
    std::map<std::int64_t, std::uint32_t> end;  ///< the last backward pass of each batch
  };
  Passes passes_of(const std::string& device) const {
    Passes passes;
    for (const std::uint32_t a : actions_of(device)) {
      const Action& action = plan_.actions[a];
      if (!sums_gradients(action.kind)) continue;
      const std::int64_t batch = action.micro_batch / micro_batches_;
      passes.first.try_emplace({batch, action.stage}, a);
      passes.last[{batch, action.stage}] = passes.end[batch] = a;
    }
    return passes;
  }

  /// Returns the actions of the body and the epilogue that run on a device, in listing order. If a batch is all
  /// iterations of the body, its updates are in the epilogue.
  const std::vector<std::uint32_t>& actions_of(const std::string& device) const {
    static const std::vector<std::uint32_t> nothing;
    const auto found = of_device_.find(device);
    return found == of_device_.end() ? nothing : found->second;
  }

  void find_sums(const std::string& device) {
    const Passes passes = passes_of(device);
    for (const auto& [key, last] : passes.last) {
      if (gradients_of(device, key.second) == none) continue;
      Sum sum{last};
      sum.user = sum.before = user_of(device, key.second, last);
      const std::uint32_t end = passes.end.at(key.first);
      if (sum.user == none) {  // here, the gradients stay on the device
        const auto next = passes.first.find({key.first + 1, key.second});
        sum.distance = next == passes.first.end() ? 1 : 0;
        sum.user = sum.distance == 0 ? next->second : passes.first.at({0, key.second});
        sum.before = end + 1;
      }
      if (!overlap_ && end < sum.before) sum.ready = end;
      sums_[key].push_back(sum);
    }
  }

  /// Returns the first action after action `after` that needs the stage's gradients: an update of the stage, or a save
  /// of its gradients. Returns `none` if the gradients stay on the device.
  std::uint32_t user_of(const std::string& device, std::int32_t stage, std::uint32_t after) const {
    const std::vector<std::uint32_t>& own = actions_of(device);
    for (auto at = std::upper_bound(own.begin(), own.end(), after); at != own.end(); ++at) {
      const std::uint32_t a = *at;
      const Action& action = plan_.actions[a];
      if (action.stage != stage) continue;
      if (sums_gradients(action.kind)) return none;  // this action belongs to the next batch
      if (action.kind == ActionKind::update) return a;
      if (action.kind == ActionKind::save && action.micro_batch < 0 &&
          plan_.tensors[action.flow().tensor].tensor_class == TensorClass::gradient)
        return a;
    }
    return none;
  }

  void add_ring(std::int32_t stage, std::int64_t batch, const std::vector<Sum>& sums) {
    const std::size_t n = devices_.size();
    const std::size_t steps = 2 * (n - 1);
    std::vector<std::vector<std::uint32_t>> sent(n, std::vector<std::uint32_t>(steps, none));
    std::vector<std::uint32_t> gradients;
    for (std::size_t k = 0; k < n; ++k) gradients.push_back(gradients_of(devices_[k], stage));
    std::vector<Hop> hops;
    for (std::size_t k = 0; k < n; ++k)
      hops.push_back(hop(pools_.at(gradients[k]), pools_.at(gradients[(k + 1) % n])));
    add_collective(stage, batch, plan_.tensors[gradients.front()].bytes);
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t r = 0; r < steps; ++r) {
        const std::size_t piece = (k + 2 * n - r) % n;
        sent[k][r] =
            list(piece_of({stage, k, gradients[k], hops[k]}, piece, batch, r), sums[k].before);
        added_to_body_ += sums[k].user < plan_.body_end ? 1 : 0;
      }
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t from = (k + n - 1) % n;
      for (std::size_t r = 0; r < steps; ++r) {
        Action& action = added_[sent[k][r]];
        action.waits.push_back({sums[k].ready, 0});
        if (r > 0) action.waits.push_back({new_number(sent[from][r - 1]), 0});
      }
      // The action `user` waits for two transfers. The first transfer brings the last piece to the device, and so
      // completes the sums. The second transfer sends a piece from the device for the last time. Until it ends, `user`
      // must not change the gradients.
      auto& waits = plan_.actions[sums[k].user].waits;
      for (const std::uint32_t end : {sent[from][steps - 1], sent[k][steps - 1]})
        waits.push_back({new_number(end), sums[k].distance});
    }
  }

  void add_collective(std::int32_t stage, std::int64_t batch, std::int64_t bytes) {
    const std::string number = batch == 0 ? "" : "'" + std::to_string(batch + 1);
    plan_.collectives.push_back({"gradients." + std::to_string(stage) + number,
                                 ActionKind::all_reduce, "ring", devices_, bytes});
  }

  /// Returns the number of the tensor with the stage's gradients. Returns `none` if the stage has no such tensor.
  std::uint32_t gradients_of(const std::string& device, std::int32_t stage) const {
    const auto found = gradients_.find({device, stage});
    return found == gradients_.end() ? none : found->second;
  }

  /// The connection from one device to the next device of the ring. It consists of indices in the plan: of the pools of
  /// both devices, of the stream and of the route.
  struct Hop {
    std::uint32_t from, to, stream, route;
  };
  Hop hop(std::uint32_t from, std::uint32_t to) {
    const auto [known, fresh] = hops_.try_emplace({from, to});
    if (!fresh) return known->second;
    const RingHop made = connection_(plan_.pools[from].name, plan_.pools[to].name);
    return known->second = {from, to, find_or_add(streams_, plan_.streams, made.stream),
                            find_or_add(routes_, plan_.routes, made.route)};
  }

  using Numbers = std::unordered_map<std::string, std::uint32_t>;  ///< indexed by name
  template <class Thing>
  static std::uint32_t find_or_add(Numbers& numbers, std::vector<Thing>& things,
                                   const Thing& thing) {
    const auto [found, is_new] =
        numbers.emplace(thing.name, static_cast<std::uint32_t>(things.size()));
    if (is_new) things.push_back(thing);
    return found->second;
  }

  /// What device `device` sends to the next device of the ring: the gradients of a stage.
  struct Sent {
    std::int32_t stage;
    std::size_t device;
    std::uint32_t gradients;
    const Hop& hop;
  };
  Action piece_of(const Sent& sent, std::size_t piece, std::int64_t batch, std::size_t step) const {
    const auto n = static_cast<std::int64_t>(devices_.size());
    const std::int64_t bytes = plan_.tensors[sent.gradients].bytes;
    Action action;
    action.kind = ActionKind::all_reduce;
    action.name = devices_[sent.device] + "/" + std::to_string(sent.stage) + "ALL_REDUCE" +
                  std::to_string(step) + (batch == 0 ? "" : "'" + std::to_string(batch + 1));
    action.stage = sent.stage;
    action.flows.push_back({sent.gradients, sent.hop.from, sent.hop.to, sent.hop.route,
                            bytes / n + (static_cast<std::int64_t>(piece) < bytes % n ? 1 : 0)});
    action.stream = sent.hop.stream;
    action.collective = static_cast<std::uint32_t>(plan_.collectives.size() - 1);
    return action;
  }

  /// Adds an action directly before the plan's action with the number `before`. Returns the number of the new action
  /// among the added actions.
  std::uint32_t list(Action action, std::uint32_t before) {
    added_.push_back(std::move(action));
    before_[before].push_back(static_cast<std::uint32_t>(added_.size() - 1));
    return static_cast<std::uint32_t>(added_.size() - 1);
  }

  /// Returns the number that an added action has until rebuild() is called. Until then, the added actions are numbered
  /// after all other actions.
  std::uint32_t new_number(std::uint32_t added) const {
    return static_cast<std::uint32_t>(plan_.actions.size()) + added;
  }

  void rebuild() {
    const std::size_t old = plan_.actions.size();
    std::vector<std::uint32_t> place(old + added_.size());
    std::vector<Action> actions;
    for (std::uint32_t a = 0; a <= old; ++a) {
      for (const std::uint32_t added : before_[a]) {
        place[old + added] = static_cast<std::uint32_t>(actions.size());
        actions.push_back(std::move(added_[added]));
      }
      if (a == old) break;
      place[a] = static_cast<std::uint32_t>(actions.size());
      actions.push_back(std::move(plan_.actions[a]));
    }
    for (Action& action : actions)
      for (Wait& wait : action.waits) wait.action = place[wait.action];
    plan_.actions = std::move(actions);
    plan_.body_end += added_to_body_;
  }

  Plan& plan_;
  const std::vector<std::string>& devices_;
  const RingHops& connection_;
  std::unordered_map<std::uint32_t, std::uint32_t>
      pools_;  ///< the pool of each tensor of gradients
  bool overlap_;
  std::int64_t micro_batches_;
  /// The tensor in which a device sums the gradients of a stage. If the sums leave the device and come back as another
  /// tensor, the first of these tensors.
  std::map<std::pair<std::string, std::int32_t>, std::uint32_t> gradients_;
  Numbers streams_, routes_;
  std::unordered_map<std::string, std::vector<std::uint32_t>> of_device_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Hop> hops_;  ///< by the two pools
  std::map<Key, std::vector<Sum>> sums_;                         ///< each list is indexed by device
  std::vector<Action> added_;
  std::uint32_t added_to_body_ = 0;  ///< how many of them are actions of the body
  /// For each action of the plan, the added actions that are listed directly before it.
  std::vector<std::vector<std::uint32_t>> before_;
};

}  // namespace

void add_all_reduce(Plan& plan, const std::vector<std::string>& devices, const RingHops& hops,
                    bool overlap, std::int64_t micro_batches) {
  if (devices.size() > 1) Rings(plan, devices, hops, overlap, micro_batches).add();
}

}  // namespace sluice
