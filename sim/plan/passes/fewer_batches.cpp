#include "plan/passes/fewer_batches.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "plan/passes/serialise.hpp"
#include "plan/passes/unroll.hpp"

namespace sluice {
namespace {

/// Leaves out the last batch of each step. The body of the result is a whole step, or several steps.
class FewerBatches {
 public:
  FewerBatches(const Plan& plan, std::int64_t batches)
      : made_(unroll(plan, plan.iterations_per_step)),
        of_step_(micro_batches_of(plan) * plan.iterations_per_step / plan.steps_per_iteration),
        left_out_(of_step_ / batches),
        batches_(batches),
        kept_(made_.actions.size(), 1) {}

  Plan make() {
    for (std::uint32_t a = made_.body_begin; a < made_.body_end; ++a)
      kept_[a] = made_.actions[a].is_transfer() ||
                 made_.actions[a].micro_batch % of_step_ < of_step_ - left_out_;
    while (leave_out_transfers()) {
    }
    const bool serial = is_serial();
    find_others();
    if (!serial)
      for (Action& action : made_.actions) wait_for_others(action);
    shorten_homes();
    remove();
    if (serial) {
      for (Action& action : made_.actions) action.waits = {};
      serialise(made_);
    }
    std::erase_if(made_.facts, counts_of_step);
    return std::move(made_);
  }

 private:
  /// Returns whether the fact counts something in a step of the given plan.
  static bool counts_of_step(const Fact& fact) {
    static const std::set<std::string> names = {"in_flight", "passes_per_step", "weight_passes",
                                                "loads_listed_ahead", "placed_bytes"};
    return names.contains(fact.name);
  }

  /// Returns how many micro-batches one round of the plan computes.
  static std::int64_t micro_batches_of(const Plan& plan) {
    std::int64_t count = 0;
    for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
      const Action& action = plan.actions[a];
      if (action.is_transfer()) continue;
      if (plan.section_of(a) != Section::body || action.ahead != 0)
        throw InputError("the batches of the plan '" + plan.name + "' cannot be told apart");
      count = std::max<std::int64_t>(count, action.micro_batch + 1);
    }
    return count;
  }

  /// How many actions make a tensor in a pool, and how many others use it there.
  struct Actions {
    int makers = 0, users = 0;
  };
  std::size_t index(const Placement& one) const {
    return one.tensor * made_.pools.size() + one.pool;
  }
  std::vector<Actions> actions_of(bool only_kept) const {
    std::vector<Actions> all(made_.tensors.size() * made_.pools.size());
    for (std::uint32_t a = 0; a < made_.actions.size(); ++a) {
      if (only_kept && !kept_[a]) continue;
      const auto& makes = made_.actions[a].allocates;
      for (const Placement& one : makes) ++all[index(one)].makers;
      for (const Access& use : made_.actions[a].uses)
        if (std::ranges::find(makes, use.placement()) == makes.end())
          ++all[index(use.placement())].users;
    }
    return all;
  }

  /// Leaves out transfers of what no action makes any more, and transfers to a pool in which no action uses their
  /// tensors any more. Returns whether there are such transfers.
  bool leave_out_transfers() {
    const std::vector<Actions> before = actions_of(false), left = actions_of(true);
    const auto gone = [&](const Access& use) {
      const std::size_t n = index(use.placement());
      return before[n].makers > 0 && left[n].makers == 0;
    };
    const auto unused = [&](const Placement& one) {
      return before[index(one)].users > 0 && left[index(one)].users == 0;
    };
    bool found = false;
    for (std::uint32_t a = 0; a < made_.actions.size(); ++a) {
      const Action& action = made_.actions[a];
      if (!kept_[a] || !action.is_transfer()) continue;
      if (std::ranges::none_of(action.uses, gone) && std::ranges::none_of(action.allocates, unused))
        continue;
      kept_[a] = 0;
      found = true;
    }
    return found;
  }

  /// Returns whether each action waits for the action before it.
  bool is_serial() const {
    for (std::uint32_t a = 1; a < made_.actions.size(); ++a) {
      const auto& waits = made_.actions[a].waits;
      if (std::ranges::find(waits, Wait{a - 1, 0}) == waits.end()) return false;
    }
    return true;
  }

  /// Finds, for each action that is left out, the same action of the batch before. For an action of no batch, takes the
  /// action before it in its stream.
  void find_others() {
    using Key = std::tuple<Section, ActionKind, WorkPart, std::int32_t, std::int64_t>;
    std::map<Key, std::vector<std::uint32_t>> all;
    std::map<std::pair<Section, std::uint32_t>, std::uint32_t> last;  // by stream
    for (std::uint32_t a = 0; a < made_.actions.size(); ++a) {
      const Action& action = made_.actions[a];
      const Section section = made_.section_of(a);
      const auto key = [&](std::int64_t micro_batch) {
        return Key{section, action.kind, action.part, action.stage, micro_batch};
      };
      std::vector<std::uint32_t>& same = all[key(action.micro_batch)];
      same.push_back(a);
      if (kept_[a]) {
        last[{section, action.stream}] = a;
        continue;
      }
      const auto before = all.find(key(action.micro_batch - left_out_));
      const auto in_stream = last.find({section, action.stream});
      if (before != all.end() && before->second.size() >= same.size() &&
          kept_[before->second[same.size() - 1]])
        others_[a] = before->second[same.size() - 1];
      else if (in_stream != last.end())
        others_[a] = in_stream->second;
    }
  }

  void wait_for_others(Action& action) const {
    const Few<Wait, 2> waits = std::exchange(action.waits, {});
    for (Wait wait : waits) {
      if (!kept_[wait.action]) {
        const auto other = others_.find(wait.action);
        if (other == others_.end()) continue;
        wait.action = other->second;
      }
      const bool again = std::ranges::find(action.waits, wait) != action.waits.end() ||
                         (wait.distance == 0 && &made_.actions[wait.action] == &action);
      if (!again) action.waits.push_back(wait);
    }
  }

  /// No action uses the tensors that hold the inputs and the answers of a step in host memory.
  void shorten_homes() {
    std::vector<char> used(made_.tensors.size(), 0);
    for (const Action& action : made_.actions) {
      for (const Flow& flow : action.flows)
        if (flow.tensor != none) used[flow.tensor] = 1;
      for (const Access& use : action.uses) used[use.tensor] = 1;
    }
    for (std::uint32_t t = 0; t < made_.tensors.size(); ++t)
      if (Tensor& held = made_.tensors[t]; !used[t] && held.home != none)
        if (held.tensor_class == TensorClass::input || held.tensor_class == TensorClass::output)
          held.bytes = held.bytes / batches_ * (batches_ - 1);
  }

  void remove() {
    std::vector<std::uint32_t> place;
    std::uint32_t count = 0;
    for (std::uint32_t a = 0; a < made_.actions.size(); ++a) {
      place.push_back(count);
      if (kept_[a] && count++ != a) made_.actions[count - 1] = std::move(made_.actions[a]);
    }
    place.push_back(count);
    made_.actions.resize(count);
    for (Action& action : made_.actions)
      for (Wait& wait : action.waits) wait.action = place[wait.action];
    made_.body_begin = place[made_.body_begin];
    made_.body_end = place[made_.body_end];
  }

  Plan made_;
  std::int64_t of_step_;   ///< the number of micro-batches of a step
  std::int64_t left_out_;  ///< the number of micro-batches of a batch
  std::int64_t batches_;
  std::vector<char> kept_;  ///< indexed by action
  /// For an action that is left out: the action that others wait for instead.
  std::map<std::uint32_t, std::uint32_t> others_;
};

}  // namespace

Plan without_last_batch(const Plan& plan, std::int64_t batches) {
  if (plan.iterations_per_step % batches != 0) return FewerBatches(plan, batches).make();
  Plan fewer = plan;  // a batch is several rounds
  for (std::int64_t* rounds : {&fewer.iterations, &fewer.iterations_per_step})
    *rounds = *rounds / batches * (batches - 1);
  return fewer;
}

}  // namespace sluice
