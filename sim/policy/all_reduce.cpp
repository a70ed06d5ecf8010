#include "policy/all_reduce.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.hpp"

namespace sluice {

namespace {

bool sums_gradients(ActionKind kind) {
  return kind == ActionKind::backward || kind == ActionKind::backward_weight;
}

/// One device's update of one stage: what ends before it.
struct Update {
  std::uint32_t action = none;
  std::uint32_t ready = none;  ///< the backward pass after which its gradients may move
};

class Rings {
 public:
  Rings(Plan& plan, const Platform& platform, const std::vector<std::string>& devices, bool overlap)
      : plan_(plan), platform_(platform), devices_(devices), overlap_(overlap) {}

  void add() {
    for (const std::string& device : devices_) find_updates(device);
    before_.resize(plan_.actions.size());
    for (const auto& [key, updates] : updates_) {
      if (updates.size() != devices_.size())
        throw InternalError("replicas do not update the same stages equally often");
      add_ring(key.first, key.second, updates);
    }
    rebuild();
  }

 private:
  /// The n-th update of each stage on this device, with the last backward pass before it.
  void find_updates(const std::string& device) {
    std::map<std::int32_t, std::uint32_t> last;
    std::map<std::int32_t, int> count;
    std::uint32_t latest = none;
    for (std::uint32_t a = plan_.body_begin; a < plan_.body_end; ++a) {
      const Action& action = plan_.actions[a];
      if (action.is_transfer() || plan_.streams[action.stream].device != device) continue;
      if (sums_gradients(action.kind)) latest = last[action.stage] = a;
      if (action.kind == ActionKind::update)
        updates_[{action.stage, count[action.stage]++}].push_back(
            {a, overlap_ ? last.at(action.stage) : latest});
    }
  }

  void add_ring(std::int32_t stage, int number, const std::vector<Update>& updates) {
    const std::size_t n = devices_.size();
    const std::size_t steps = 2 * (n - 1);
    std::vector<std::vector<std::uint32_t>> sent(n, std::vector<std::uint32_t>(steps, none));
    std::vector<std::uint32_t> gradients;
    for (std::size_t k = 0; k < n; ++k) gradients.push_back(gradients_of(devices_[k], stage));
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t r = 0; r < steps; ++r) {
        const std::size_t piece = (k + 2 * n - r) % n;
        sent[k][r] = list(piece_of(stage, k, gradients[k], piece, number, r), updates[k].action);
      }
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t from = (k + n - 1) % n;
      for (std::size_t r = 0; r < steps; ++r) {
        Action& action = added_[sent[k][r]];
        action.waits.push_back({updates[k].ready, 0});
        if (r > 0) action.waits.push_back({new_number(sent[from][r - 1]), 0});
      }
      // What came last is the last sum; what it sends itself must have left before it changes.
      auto& waits = plan_.actions[updates[k].action].waits;
      for (const std::uint32_t end : {sent[from][steps - 1], sent[k][steps - 1]})
        waits.push_back({new_number(end), 0});
    }
  }

  std::uint32_t gradients_of(const std::string& device, std::int32_t stage) const {
    const std::string name = device + "/gradients." + std::to_string(stage);
    for (std::uint32_t t = 0; t < plan_.tensors.size(); ++t)
      if (plan_.tensors[t].name == name) return t;
    throw InternalError("no tensor '" + name + "'");
  }

  Action piece_of(std::int32_t stage, std::size_t k, std::uint32_t gradients, std::size_t piece,
                  int number, std::size_t step) {
    const auto n = static_cast<std::int64_t>(devices_.size());
    const std::int64_t bytes = plan_.tensors[gradients].bytes;
    const std::string& next = devices_[(k + 1) % devices_.size()];
    Action action;
    action.kind = ActionKind::all_reduce;
    action.name = devices_[k] + "/" + std::to_string(stage) + "ALL_REDUCE" + std::to_string(step) +
                  (number == 0 ? "" : "'" + std::to_string(number + 1));
    action.stage = stage;
    action.moves = gradients;
    action.from = pool(devices_[k]);
    action.to = pool(next);
    action.bytes = bytes / n + (static_cast<std::int64_t>(piece) < bytes % n ? 1 : 0);
    const Path path = platform_.path(devices_[k], next);
    action.stream = stream(path);
    action.route = route(path);
    return action;
  }

  std::uint32_t pool(const std::string& name) const {
    for (std::uint32_t p = 0; p < plan_.pools.size(); ++p)
      if (plan_.pools[p].name == name) return p;
    throw InternalError("no pool '" + name + "'");
  }

  template <class Things, class Make>
  static std::uint32_t find_or_add(Things& things, const std::string& name, Make&& make) {
    for (std::uint32_t i = 0; i < things.size(); ++i)
      if (things[i].name == name) return i;
    things.push_back(make());
    return static_cast<std::uint32_t>(things.size() - 1);
  }

  std::uint32_t stream(const Path& path) {
    return find_or_add(plan_.streams, path.stream, [&] {
      return Stream{path.stream, StreamKind::copy, path.device, 0, 0};
    });
  }

  std::uint32_t route(const Path& path) {
    return find_or_add(plan_.routes, path.name, [&] {
      return Route{path.name, path.channels, path.setup_s, path.latency_s};
    });
  }

  /// Lists an action before another one; its number among the added.
  std::uint32_t list(Action action, std::uint32_t before) {
    added_.push_back(std::move(action));
    before_[before].push_back(static_cast<std::uint32_t>(added_.size() - 1));
    return static_cast<std::uint32_t>(added_.size() - 1);
  }

  /// Added actions are numbered after all others until rebuild() puts them into their places.
  std::uint32_t new_number(std::uint32_t added) const {
    return static_cast<std::uint32_t>(plan_.actions.size()) + added;
  }

  void rebuild() {
    const std::size_t old = plan_.actions.size();
    std::vector<std::uint32_t> place(old + added_.size());
    std::vector<Action> actions;
    for (std::uint32_t a = 0; a < old; ++a) {
      for (const std::uint32_t added : before_[a]) {
        place[old + added] = static_cast<std::uint32_t>(actions.size());
        actions.push_back(std::move(added_[added]));
      }
      place[a] = static_cast<std::uint32_t>(actions.size());
      actions.push_back(std::move(plan_.actions[a]));
    }
    for (Action& action : actions)
      for (Wait& wait : action.waits) wait.action = place[wait.action];
    plan_.actions = std::move(actions);
    plan_.body_end += static_cast<std::uint32_t>(added_.size());
  }

  Plan& plan_;
  const Platform& platform_;
  const std::vector<std::string>& devices_;
  bool overlap_;
  std::map<std::pair<std::int32_t, int>, std::vector<Update>>
      updates_;  ///< (stage, which), by device
  std::vector<Action> added_;
  std::vector<std::vector<std::uint32_t>> before_;  ///< by action: added ones that come before it
};

}  // namespace

void add_all_reduce(Plan& plan, const Platform& platform, const std::vector<std::string>& devices,
                    bool overlap) {
  if (devices.size() > 1) Rings(plan, platform, devices, overlap).add();
}

}  // namespace sluice
