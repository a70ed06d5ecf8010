#include "plan/passes/fold.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

namespace {

bool same_seconds(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

/// Returns whether two actions differ at most in their names, micro-batches, tensors and waits.
bool alike(const Action& a, const Action& b) {
  return a.kind == b.kind && a.part == b.part && a.stream == b.stream && a.stage == b.stage &&
         a.collective == none && b.collective == none && a.samples == b.samples &&
         a.samples_done == b.samples_done && a.ahead == 0 && b.ahead == 0 && a.not_before == 0 &&
         b.not_before == 0 && same_seconds(a.seconds, b.seconds) && a.joules == b.joules &&
         a.flows.size() == b.flows.size() && a.waits.size() == b.waits.size() &&
         a.allocates.size() == b.allocates.size() && a.uses.size() == b.uses.size();
}

class Folder {
 public:
  Folder(Plan listed, const EqualRounds& rounds, std::int64_t times)
      : plan_(std::move(listed)),
        rounds_(rounds),
        times_(times),
        next_(plan_.tensors.size(), none),
        before_(plan_.tensors.size(), none) {}

  std::optional<Plan> make() {
    if (rounds_.count < 2 || rounds_.size == 0 || rounds_end() > plan_.body_end) return {};
    for (std::uint32_t a = rounds_.begin; a + rounds_.size < rounds_end(); ++a)
      if (!follows(a)) return {};
    for (std::uint32_t a = rounds_.begin; a < body_end(); ++a)
      for (const Placement& made : plan_.actions[a].allocates) {
        std::int64_t rounds = 0;
        const std::uint32_t first = first_of(made.tensor, &rounds);
        if (!made_.try_emplace({first, made.pool}, Made{made.tensor, rounds}).second) return {};
      }
    // Only the first of the equal rounds is changed: move_waits() reads the second one.
    for (std::uint32_t a = 0; a < plan_.actions.size(); ++a)
      if ((a < body_end() || a >= rounds_end()) && !(move_tensors(a) && move_waits(a))) return {};
    const std::uint32_t listed_begin = plan_.body_begin;
    plan_.actions.erase(plan_.actions.begin() + body_end(), plan_.actions.begin() + rounds_end());
    plan_.body_begin = rounds_.begin;
    plan_.body_end = body_end();
    plan_.iterations = plan_.iterations_per_step = times_;
    name_apart(listed_begin, 0, plan_.body_begin);
    name_apart(plan_.body_end, plan_.body_end, static_cast<std::uint32_t>(plan_.actions.size()));
    keep_used_tensors();
    return std::move(plan_);
  }

 private:
  std::uint32_t body_end() const { return rounds_.begin + rounds_.size; }
  std::uint32_t rounds_end() const {
    return rounds_.begin + static_cast<std::uint32_t>(rounds_.count) * rounds_.size;
  }

  /// Returns whether the action a + size does in its round what action `a` does in the round before. Records which
  /// tensors it has instead of those of action `a`.
  bool follows(std::uint32_t a) {
    const Action &one = plan_.actions[a], &next = plan_.actions[a + rounds_.size];
    if (!alike(one, next)) return false;
    for (std::size_t i = 0; i < one.flows.size(); ++i) {
      const Flow &x = one.flows[i], &y = next.flows[i];
      if (x.from != y.from || x.to != y.to || x.route != y.route || x.bytes != y.bytes ||
          !pair(x.tensor, y.tensor))
        return false;
    }
    for (std::size_t i = 0; i < one.allocates.size(); ++i) {
      const Placement &x = one.allocates[i], &y = next.allocates[i];
      if (x.pool != y.pool || x.tensor == y.tensor || !pair(x.tensor, y.tensor)) return false;
    }
    for (std::size_t i = 0; i < one.uses.size(); ++i) {
      const Access &x = one.uses[i], &y = next.uses[i];
      if (x.pool != y.pool || x.read != y.read || x.written != y.written ||
          !pair(x.tensor, y.tensor))
        return false;
    }
    for (std::size_t i = 0; i < one.waits.size(); ++i) {
      const Wait &x = one.waits[i], &y = next.waits[i];
      const bool before = x.action < rounds_.begin;
      const bool same = before && x.action == y.action;
      const bool moved = x.action + rounds_.size == y.action && y.action >= rounds_.begin;
      // The actions before the equal rounds may be listed in another order than those of the first round.
      const bool of_first = before && y.action >= rounds_.begin && y.action < body_end();
      if (x.distance != 0 || y.distance != 0 || !(same || moved || (of_first && a < body_end())))
        return false;
    }
    return true;
  }

  /// Records that `later` has the role of `tensor` in the next round. If both are the same tensor, all rounds share it.
  bool pair(std::uint32_t tensor, std::uint32_t later) {
    if (tensor == later) return tensor == none || next_[tensor] == none || next_[tensor] == tensor;
    if (tensor == none || later == none) return false;
    const Tensor &x = plan_.tensors[tensor], &y = plan_.tensors[later];
    if (x.bytes != y.bytes || x.tensor_class != y.tensor_class || x.home != y.home ||
        x.gradients_of != y.gradients_of)
      return false;
    if (next_[tensor] == none && before_[later] == none) {
      next_[tensor] = later;
      before_[later] = tensor;
    }
    return next_[tensor] == later && before_[later] == tensor;
  }

  /// Returns the first tensor that has the role of `tensor`, and sets `*rounds` to the number of rounds after which
  /// `tensor` has this role.
  std::uint32_t first_of(std::uint32_t tensor, std::int64_t* rounds) const {
    for (*rounds = 0; before_[tensor] != none; ++*rounds) tensor = before_[tensor];
    return tensor;
  }

  /// The tensor that the first round makes in a pool, and how many rounds before it other tensors have the same role.
  struct Made {
    std::uint32_t tensor = none;
    std::int64_t rounds = 0;
  };
  /// Gives `tensor` the number of the tensor that has its role in this pool in the first round. Returns how many rounds
  /// after the first one the given tensor is made, or nothing if the rounds make no such tensor.
  std::optional<std::int64_t> move(std::uint32_t& tensor, std::uint32_t pool) const {
    if (tensor == none) return {};
    std::int64_t rounds = 0;
    const auto found = made_.find({first_of(tensor, &rounds), pool});
    if (found == made_.end()) return {};
    tensor = found->second.tensor;
    return rounds - found->second.rounds;
  }

  /// Gives the action the tensors of the first round. What it uses may have been made in an earlier iteration. Returns
  /// false if a plan cannot say so.
  bool move_tensors(std::uint32_t a) {
    Action& action = plan_.actions[a];
    const std::int64_t own = a >= rounds_end() ? rounds_.count : 0;
    std::optional<std::int64_t> ahead;
    for (Flow& flow : action.flows)
      if (!move(flow.tensor, flow.to)) move(flow.tensor, flow.from);
    for (Placement& made : action.allocates)
      if (const auto round = move(made.tensor, made.pool)) {
        if (ahead.value_or(*round - own) != *round - own) return false;
        ahead = *round - own;
      }
    action.ahead = static_cast<std::int32_t>(ahead.value_or(0));
    for (Access& use : action.uses)
      if (const auto round = move(use.tensor, use.pool)) {
        const std::int64_t distance = own + action.ahead - *round;
        const bool later = own > 0 && *round < 0;
        if (distance < 0 || distance > std::numeric_limits<std::uint16_t>::max() || later)
          return false;
        use.distance = static_cast<std::uint16_t>(distance);
      }
    return a < rounds_.begin || own > 0 || action.ahead == 0;
  }

  /// Gives an action its waits. In the first iteration, an action of the body waits for actions of the prologue, and in
  /// the others, for actions of the iteration before. The body of the listed plan runs once, so waits for earlier runs
  /// of it have no effect. An action of the epilogue waits for actions of the last iterations.
  bool move_waits(std::uint32_t a) {
    Action& action = plan_.actions[a];
    const Few<Wait, 2> waits = action.waits;
    const std::uint32_t more = rounds_end() - body_end();
    action.waits = {};
    for (std::size_t i = 0; i < waits.size(); ++i) {
      const std::uint32_t on = waits[i].action;
      if (waits[i].distance > 0) continue;
      if (a >= body_end()) {
        if (on < rounds_.begin || on >= rounds_end()) {
          action.waits.push_back({on < rounds_.begin ? on : on - more, 0});
        } else {
          const std::uint32_t round = (on - rounds_.begin) / rounds_.size,
                              last = static_cast<std::uint32_t>(rounds_.count) - 1;
          action.waits.push_back({on - round * rounds_.size, last - round});
        }
        continue;
      }
      if (on >= body_end()) return false;
      action.waits.push_back(waits[i]);
      if (a < rounds_.begin) continue;
      const std::uint32_t next = plan_.actions[a + rounds_.size].waits[i].action;
      if (next != on && on < rounds_.begin) action.waits.push_back({next, 1});
    }
    return true;
  }

  /// Gives other names to those actions from `begin` to `end` that were in the body of the listed plan and are called
  /// like others of their section. Those that were not in the body are before `body`, or after it.
  void name_apart(std::uint32_t body, std::uint32_t begin, std::uint32_t end) {
    std::set<std::string> names;
    for (std::uint32_t a = begin; a < body; ++a) names.insert(name_of(plan_.actions[a]));
    for (std::uint32_t a = body; a < end; ++a) {
      const std::string name = name_of(plan_.actions[a]);
      for (int number = 2; !names.insert(name_of(plan_.actions[a])).second; ++number)
        plan_.actions[a].name = name + "'" + std::to_string(number);
    }
  }

  /// Leaves out the tensors that no action has any more, except those that a memory holds during the whole run.
  void keep_used_tensors() {
    std::vector<std::uint32_t> numbers(plan_.tensors.size(), none);
    const auto each = [&](const auto& visit) {
      for (Action& action : plan_.actions) {
        for (Flow& flow : action.flows)
          if (flow.tensor != none) visit(flow.tensor);
        for (Placement& made : action.allocates) visit(made.tensor);
        for (Access& use : action.uses) visit(use.tensor);
      }
    };
    each([&](std::uint32_t tensor) { numbers[tensor] = 0; });
    std::vector<Tensor> kept;
    for (std::size_t t = 0; t < plan_.tensors.size(); ++t) {
      if (numbers[t] == none && plan_.tensors[t].home == none) continue;
      numbers[t] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(std::move(plan_.tensors[t]));
    }
    plan_.tensors = std::move(kept);
    each([&](std::uint32_t& tensor) { tensor = numbers[tensor]; });
  }

  Plan plan_;  ///< the listed plan, of which make() makes the folded one
  EqualRounds rounds_;
  std::int64_t times_;
  /// Indexed by tensor: the tensor that has its role in the next round, or in the round before.
  std::vector<std::uint32_t> next_, before_;
  /// By the first tensor of a role, and a pool.
  std::map<std::pair<std::uint32_t, std::uint32_t>, Made> made_;
};

}  // namespace

Plan without_dropped(Plan plan) {
  std::vector<std::uint32_t> numbers;
  std::uint32_t count = 0, begin = 0, end = 0;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    if (a == plan.body_begin) begin = count;
    if (a == plan.body_end) end = count;
    numbers.push_back(plan.executions_of(a) > 0 ? count++ : none);
  }
  const bool empty_epilogue = plan.body_end == plan.actions.size();
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    if (numbers[a] == none) continue;
    Action action = std::move(plan.actions[a]);
    const Few<Wait, 2> waits = std::exchange(action.waits, {});
    for (const Wait& wait : waits)
      if (numbers[wait.action] != none && wait.distance < plan.iterations)
        action.waits.push_back({numbers[wait.action], wait.distance});
    plan.actions[numbers[a]] = std::move(action);
  }
  plan.actions.resize(count);
  plan.body_begin = begin;
  plan.body_end = empty_epilogue ? count : end;
  return plan;
}

std::uint32_t after_computations(const Plan& plan, std::int64_t count) {
  std::uint32_t a = plan.body_begin;
  for (std::int64_t computed = 0; computed < count; ++a)
    computed += plan.actions[a].is_transfer() ? 0 : 1;
  while (a < plan.body_end && plan.actions[a].kind == ActionKind::save) ++a;
  return a;
}

std::optional<Plan> fold(Plan listed, const EqualRounds& rounds, std::int64_t times) {
  return Folder(std::move(listed), rounds, times).make();
}

}  // namespace sluice
