#include "plan/passes/unroll.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/error.hpp"

namespace sluice {

namespace {

class Unroller {
 public:
  Unroller(const Plan& plan, std::int64_t times)
      : plan_(plan), times_(times), body_(plan.body_end - plan.body_begin), made_(plan) {}

  Plan make() {
    if (times_ < 1 || plan_.iterations % times_ != 0)
      throw InternalError("a body of " + std::to_string(plan_.iterations) +
                          " iterations cannot be unrolled " + std::to_string(times_) + " times");
    while (is_in_a_name(mark_)) mark_ += '+';
    for (std::uint32_t a = plan_.body_begin; a < plan_.body_end; ++a)
      micro_batches_ = std::max(micro_batches_, plan_.actions[a].micro_batch + 1);
    copy_tensors();
    made_.actions.clear();
    for (std::uint32_t a = 0; a < plan_.body_begin; ++a) add(a, 0);
    for (std::int64_t copy = 0; copy < times_; ++copy)
      for (std::uint32_t a = plan_.body_begin; a < plan_.body_end; ++a) add(a, copy);
    made_.body_end = static_cast<std::uint32_t>(made_.actions.size());
    for (std::uint32_t a = plan_.body_end; a < plan_.actions.size(); ++a) add(a, 0);
    made_.iterations = plan_.iterations / times_;
    const std::int64_t shared = std::gcd(times_, plan_.iterations_per_step);
    made_.iterations_per_step = plan_.iterations_per_step / shared;
    made_.steps_per_iteration = plan_.steps_per_iteration * (times_ / shared);
    made_.source = nullptr;
    made_.line_begins.clear();
    return std::move(made_);
  }

 private:
  /// Returns whether the name of any action or tensor contains `mark`. The name of a copy is the old name, then the
  /// mark, and then the number of the copy. The plan may contain it because it was unrolled before. Then the names of
  /// the new copies need another mark.
  bool is_in_a_name(const std::string& mark) const {
    const auto has = [&](const auto& thing) { return thing.name.find(mark) != std::string::npos; };
    return std::any_of(plan_.actions.begin(), plan_.actions.end(), has) ||
           std::any_of(plan_.tensors.begin(), plan_.tensors.end(), has);
  }

  /// Where an iteration of the old body is in the new plan. `copy` is the number of its copy in the new body, and
  /// `runs` is the number of runs of the new body before it. Iteration 0 of the old body is copy 0 of run 0.
  struct Place {
    std::int64_t copy, runs;
  };
  Place place(std::int64_t index) const {
    const std::int64_t copy = (index % times_ + times_) % times_;
    return {copy, (index - copy) / times_};
  }

  /// Makes copies of the tensors that the body allocates. Copy 0 of a tensor is the tensor itself.
  void copy_tensors() {
    copies_.assign(plan_.tensors.size(), none);
    for (std::uint32_t a = plan_.body_begin; a < plan_.body_end; ++a)
      for (const Placement& placement : plan_.actions[a].allocates) {
        std::uint32_t& first = copies_[placement.tensor];
        if (first != none) continue;
        first = static_cast<std::uint32_t>(made_.tensors.size());
        for (std::int64_t copy = 1; copy < times_; ++copy) {
          Tensor tensor = plan_.tensors[placement.tensor];
          tensor.name += mark_ + std::to_string(copy);
          tensor.home = none;
          made_.tensors.push_back(std::move(tensor));
        }
      }
  }

  std::uint32_t tensor(std::uint32_t number, std::int64_t copy) const {
    if (copy == 0 || copies_[number] == none) return number;
    return copies_[number] + static_cast<std::uint32_t>(copy - 1);
  }

  std::uint32_t action(std::uint32_t number, std::int64_t copy) const {
    const auto before = static_cast<std::uint32_t>(copy * static_cast<std::int64_t>(body_));
    return number < plan_.body_end ? number + before
                                   : number + static_cast<std::uint32_t>(times_ - 1) * body_;
  }

  void add(std::uint32_t number, std::int64_t copy) {
    Action action = plan_.actions[number];
    const Section section = plan_.section_of(number);
    if (copy > 0) action.name = name_of(action) + mark_ + std::to_string(copy);
    // In the old plan, the action works for the iteration that is `action.ahead` iterations later. `instance` says
    // where that iteration is in the new plan: in which copy, and how many runs of the new body after the run of the
    // action. The prologue counts as iteration 0. The epilogue counts as the iteration after the last one.
    const Place instance = place(copy + action.ahead);
    if (action.micro_batch >= 0 && instance.copy > 0) {
      action.name = name_of(action);  // the name may be a formula with the old number of the micro-batch
      action.micro_batch += static_cast<std::int32_t>(instance.copy) * micro_batches_;
    }
    action.ahead = static_cast<std::int32_t>(instance.runs);
    for (Flow& flow : action.flows)
      if (flow.tensor != none) flow.tensor = tensor(flow.tensor, instance.copy);
    for (Placement& made : action.allocates) made.tensor = tensor(made.tensor, instance.copy);
    for (Access& use : action.uses) {
      const Place used = place(copy + plan_.actions[number].ahead - use.distance);
      use.tensor = tensor(use.tensor, used.copy);
      use.distance = static_cast<std::uint16_t>(instance.runs - used.runs);
    }
    for (Wait& wait : action.waits) wait = moved(wait, section, copy);
    made_.actions.push_back(std::move(action));
  }

  /// Returns the wait that the new action has instead of the old wait `wait`. In the epilogue, the distance of a wait
  /// counts from the last iteration of the body.
  Wait moved(const Wait& wait, Section section, std::int64_t copy) const {
    if (plan_.section_of(wait.action) != Section::body)
      return {action(wait.action, 0), wait.distance};
    const std::int64_t from = section == Section::body ? copy : times_ - 1;
    const Place at = place(from - static_cast<std::int64_t>(wait.distance));
    return {action(wait.action, at.copy), static_cast<std::uint32_t>(-at.runs)};
  }

  const Plan& plan_;
  std::int64_t times_;
  std::string mark_ = "+";  ///< this mark stands before the number of a copy in names
  std::uint32_t body_;      ///< the number of actions of the old body
  std::int32_t micro_batches_ = 0;  ///< the number of micro-batches of an iteration of the old body
  Plan made_;
  std::vector<std::uint32_t> copies_;  ///< the number of copy 1 of each tensor, or `none`
};

}  // namespace

Plan unroll(const Plan& plan, std::int64_t times) {
  return times == 1 ? plan : Unroller(plan, times).make();
}

}  // namespace sluice
