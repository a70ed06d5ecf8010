#include "plan/passes/fold.hpp"

#include <cmath>
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
  Folder(const Plan& listed, const EqualRounds& rounds, std::int64_t times)
      : listed_(listed),
        rounds_(rounds),
        times_(times),
        next_(listed.tensors.size(), none),
        before_(listed.tensors.size(), none) {}

  std::optional<Plan> make() {
    if (rounds_.count < 2 || rounds_.size == 0) return {};
    for (std::int64_t round = 0; round + 1 < rounds_.count; ++round)
      for (std::uint32_t i = 0; i < rounds_.size; ++i)
        if (!follows(rounds_.begin + static_cast<std::uint32_t>(round) * rounds_.size + i))
          return {};
    Plan made = listed_;
    made.actions.resize(rounds_.begin + rounds_.size);
    made.body_begin = rounds_.begin;
    made.body_end = rounds_.begin + rounds_.size;
    made.iterations = made.iterations_per_step = times_;
    for (std::uint32_t a = 0; a < made.actions.size(); ++a)
      if (!move_tensors(made.actions[a]) || !move_waits(a, made.actions[a])) return {};
    name_prologue(made);
    keep_used_tensors(made);
    return made;
  }

 private:
  /// Returns whether the action a + size does in its round what action `a` does in the round before. Records which
  /// tensors it has instead of those of action `a`.
  bool follows(std::uint32_t a) {
    const Action &one = listed_.actions[a], &next = listed_.actions[a + rounds_.size];
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
      if (x.distance != 0 || y.distance != 0 ||
          (x.action != y.action && x.action + rounds_.size != y.action))
        return false;
      if (x.action != y.action && x.action + rounds_.size < rounds_.begin) return false;
    }
    return true;
  }

  /// Records that `later` has the role of `tensor` in the next round. If both are the same tensor, all rounds share it.
  bool pair(std::uint32_t tensor, std::uint32_t later) {
    if (tensor == later) return tensor == none || next_[tensor] == none || next_[tensor] == tensor;
    if (tensor == none || later == none) return false;
    const Tensor &x = listed_.tensors[tensor], &y = listed_.tensors[later];
    if (x.bytes != y.bytes || x.tensor_class != y.tensor_class || x.home != none || y.home != none)
      return false;
    if (next_[tensor] == none && before_[later] == none) {
      next_[tensor] = later;
      before_[later] = tensor;
    }
    return next_[tensor] == later && before_[later] == tensor;
  }

  /// Returns the tensor that has the role of `tensor` in the first round, and adds to `*rounds` how many rounds later
  /// `tensor` has this role.
  std::uint32_t first_of(std::uint32_t tensor, std::int32_t* rounds) const {
    while (before_[tensor] != none) {
      tensor = before_[tensor];
      ++*rounds;
    }
    return tensor;
  }

  /// Gives the action the tensors of the first round. Its `ahead` says for which round it works. Returns false if its
  /// tensors belong to different rounds.
  bool move_tensors(Action& action) {
    std::optional<std::int32_t> ahead;
    const auto move = [&](std::uint32_t& tensor) {
      if (tensor == none || (next_[tensor] == none && before_[tensor] == none)) return true;
      std::int32_t rounds = 0;
      tensor = first_of(tensor, &rounds);
      if (!ahead) ahead = rounds;
      return *ahead == rounds;
    };
    for (Flow& flow : action.flows)
      if (!move(flow.tensor)) return false;
    for (Placement& made : action.allocates)
      if (!move(made.tensor)) return false;
    for (Access& use : action.uses)
      if (!move(use.tensor)) return false;
    action.ahead = ahead.value_or(0);
    return true;
  }

  /// Gives an action of the body the waits for all iterations: in the first iteration, it waits for actions of the
  /// prologue, and in the others, for actions of the iteration before. The body of the listed plan runs once, so waits
  /// for earlier runs of it have no effect.
  bool move_waits(std::uint32_t a, Action& action) {
    const Few<Wait, 2> waits = action.waits;
    action.waits = {};
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].distance > 0) continue;
      if (waits[i].action >= rounds_.begin + rounds_.size) return false;
      action.waits.push_back(waits[i]);
      if (a < rounds_.begin) continue;
      const std::uint32_t next = listed_.actions[a + rounds_.size].waits[i].action;
      if (next != waits[i].action && waits[i].action < rounds_.begin)
        action.waits.push_back({next, 1});
    }
    return true;
  }

  /// Gives another name to each action that was in the body and has the name of an action of the prologue.
  void name_prologue(Plan& plan) const {
    std::set<std::string> names;
    for (std::uint32_t a = 0; a < listed_.body_begin; ++a) names.insert(name_of(plan.actions[a]));
    if (names.empty()) return;
    for (std::uint32_t a = listed_.body_begin; a < plan.body_begin; ++a) {
      const std::string name = name_of(plan.actions[a]);
      for (int number = 2; !names.insert(name_of(plan.actions[a])).second; ++number)
        plan.actions[a].name = name + "'" + std::to_string(number);
    }
  }

  /// Leaves out the tensors that no action has any more, except those that a memory holds during the whole run.
  static void keep_used_tensors(Plan& plan) {
    std::vector<std::uint32_t> numbers(plan.tensors.size(), none);
    const auto each = [&](const auto& visit) {
      for (Action& action : plan.actions) {
        for (Flow& flow : action.flows)
          if (flow.tensor != none) visit(flow.tensor);
        for (Placement& made : action.allocates) visit(made.tensor);
        for (Access& use : action.uses) visit(use.tensor);
      }
    };
    each([&](std::uint32_t tensor) { numbers[tensor] = 0; });
    std::vector<Tensor> kept;
    for (std::size_t t = 0; t < plan.tensors.size(); ++t) {
      if (numbers[t] == none && plan.tensors[t].home == none) continue;
      numbers[t] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(std::move(plan.tensors[t]));
    }
    plan.tensors = std::move(kept);
    each([&](std::uint32_t& tensor) { tensor = numbers[tensor]; });
  }

  const Plan& listed_;
  EqualRounds rounds_;
  std::int64_t times_;
  /// Indexed by tensor: the tensor that has its role in the next round, or in the round before.
  std::vector<std::uint32_t> next_, before_;
};

}  // namespace

std::optional<Plan> fold(const Plan& listed, const EqualRounds& rounds, std::int64_t times) {
  return Folder(listed, rounds, times).make();
}

}  // namespace sluice
