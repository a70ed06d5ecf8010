#include "planning/placement/turns/moved_weights.hpp"

#include <algorithm>

#include "planning/copy_time.hpp"
#include "planning/placement/plan_routes.hpp"
#include "planning/placement/turns/inserted_moves.hpp"
#include "planning/placement/turns/unlisted.hpp"

namespace sluice {

MovedWeights::MovedWeights(PlacedPrices& prices, const PlacedKinds& placed)
    : prices_(prices), placed_(placed), works_(prices.devices().size()) {
  find_runs();
  for (const Run& run : runs_) count(run);
}

std::size_t MovedWeights::device_of(const Action& action) const {
  const std::string& name = placed_.policy_plan().streams[action.stream].device;
  const auto found = std::ranges::find(prices_.devices(), name, &Device::name);
  return static_cast<std::size_t>(found - prices_.devices().begin());
}

void MovedWeights::find_runs() {
  const Plan& plan = placed_.policy_plan();
  std::vector<std::vector<std::vector<Placement>>> unlisted;  // by device and action
  for (std::size_t d = 0; d < works_.size(); ++d)
    unlisted.push_back(unlisted_operands(plan, placed_.first_pool(d), prices_));
  const auto is_weight = [&](std::uint32_t tensor) {
    return plan.tensors[tensor].tensor_class == TensorClass::weight;
  };
  bool open = false;  // whether the next computation may belong to the last run
  std::map<std::uint32_t, std::uint32_t> last_use;  // by weight: the last computation that uses it
  for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a) {
    const Action& action = plan.actions[a];
    if (action.is_transfer()) continue;
    Run next{action.stage, device_of(action), {a}, {}};
    computations_.push_back(a);
    ++works_[next.device][prices_.work_of(plan, action)];
    for (const Access& use : action.uses)
      if (use.pool == placed_.first_pool(next.device) && is_weight(use.tensor))
        next.weights.push_back({.tensor = use.tensor});
    for (const Placement& one : unlisted[next.device][a])
      if (is_weight(one.tensor)) next.weights.push_back({.tensor = one.tensor, .listed = false});
    for (Run::Weights& one : next.weights)
      if (const auto use = last_use.find(one.tensor); use != last_use.end())
        one.used_before = {use->second, 0};
    for (const Run::Weights& one : next.weights) last_use[one.tensor] = a;
    const bool in_run = action.kind != ActionKind::update && !next.weights.empty();
    if (in_run && open && runs_.back().continues_with(next))
      runs_.back().computations.push_back(a);
    else if (in_run)
      runs_.push_back(std::move(next));
    open = in_run;
  }
  for (Run& run : runs_)
    for (Run::Weights& one : run.weights)
      if (one.used_before.action == none) one.used_before = {last_use.at(one.tensor), 1};
}

bool MovedWeights::Run::continues_with(const Run& next) {
  const auto same = [](const Weights& a, const Weights& b) { return a.tensor == b.tensor; };
  if (stage != next.stage || device != next.device ||
      !std::ranges::is_permutation(weights, next.weights, same))
    return false;
  for (Weights& one : weights)
    one.listed |= std::ranges::any_of(
        next.weights, [&](const Weights& other) { return same(one, other) && other.listed; });
  return true;
}

void MovedWeights::count(const Run& run) {
  const Plan& plan = placed_.policy_plan();
  std::vector<StageRuns>& of_stage = stages_[run.kind()];
  of_stage.resize(works_.size());
  StageRuns& all = of_stage[run.device];
  for (const std::uint32_t a : run.computations)
    ++all.works[prices_.work_of(plan, plan.actions[a])];
  const auto& memories = prices_.devices()[run.device]->memories;
  const auto seconds = [&](const Run::Weights& weights, CopyMode mode) {
    return copy_time(prices_.request().pricing.platform, memories[1].pool, memories[0].pool, mode)
        .seconds(plan.tensors[weights.tensor].bytes);
  };
  for (const Run::Weights& weights : run.weights) {
    all.synchronous_s += seconds(weights, CopyMode::synchronous);
    all.asynchronous_s += seconds(weights, CopyMode::asynchronous);
  }
}

double MovedWeights::seconds_of(const Works& works, const TensorKinds& slow) const {
  double seconds = 0;
  for (const auto& [work, count] : works)
    seconds += static_cast<double>(count) * prices_.of(work, slow).seconds;
  return seconds;
}

TensorKinds MovedWeights::movable(const TensorKinds& slow) const {
  TensorKinds kinds;
  for (const auto& [kind, runs] : stages_)
    if (slow.count(kind) != 0) kinds.insert(kind);
  return kinds;
}

TensorKinds MovedWeights::worth_moving(const TensorKinds& slow) const {
  TensorKinds kinds;
  for (const auto& [kind, of_devices] : stages_) {
    if (slow.count(kind) == 0) continue;
    TensorKinds fewer = slow;
    fewer.erase(kind);
    double saved_s = 0;
    for (const StageRuns& runs : of_devices)
      saved_s += seconds_of(runs.works, slow) - seconds_of(runs.works, fewer) - runs.synchronous_s;
    if (saved_s > 0) kinds.insert(kind);
  }
  return kinds;
}

// Synchronous moves and computations of a device run one after the other. So do its asynchronous moves, on a copy
// engine.
double MovedWeights::at_least(const TensorKinds& slow, const TensorKinds& moved,
                              CopyMode mode) const {
  TensorKinds fewer = slow;
  for (const TensorKind& kind : moved) fewer.erase(kind);
  double longest_s = 0;
  for (std::size_t d = 0; d < works_.size(); ++d) {
    double round_s = 0;
    for (const TensorKind& kind : moved) {
      const StageRuns& runs = stages_.at(kind)[d];
      round_s += mode == CopyMode::synchronous ? runs.synchronous_s : runs.asynchronous_s;
    }
    for (const auto& [work, count] : works_[d])
      if (mode == CopyMode::synchronous)
        round_s += static_cast<double>(count) *
                   std::min(prices_.of(work, slow).seconds, prices_.of(work, fewer).seconds);
    longest_s = std::max(longest_s, round_s);
  }
  const auto rounds = static_cast<double>(placed_.policy_plan().iterations);
  return std::max(placed_.seconds_at_least(slow, moved), rounds * longest_s * within_accuracy);
}

/// Adds the moves to a placed plan.
class MovedWeights::Rewriter {
 public:
  Rewriter(const MovedWeights& of, Plan plan, const TensorKinds& slow, CopyMode mode)
      : of_(of),
        plan_(std::move(plan)),
        slow_(slow),
        mode_(mode),
        routes_(plan_, of.prices_.request().pricing.platform) {}

  Plan rewrite(const TensorKinds& moved) {
    std::vector<InsertedMove> all;
    TensorKinds fewer = slow_;
    for (const TensorKind& kind : moved) fewer.erase(kind);
    for (std::size_t r = 0; r < of_.runs_.size(); ++r) {
      const Run& run = of_.runs_[r];
      if (moved.count(run.kind()) == 0) continue;
      for (const std::uint32_t a : run.computations)
        take_price(plan_.actions[a],
                   of_.prices_.of(of_.prices_.work_of(plan_, plan_.actions[a]), fewer),
                   plan_.streams[plan_.actions[a].stream]);
      add_moves(r, all);
    }
    insert_moves(plan_, std::move(all));
    say_moved_bytes(plan_);
    return std::move(plan_);
  }

 private:
  /// Returns the number of the last computation before the first computation of a run, and how many iterations ago it
  /// is.
  Wait before(const Run& run) const {
    return last_before(run, [](std::uint32_t) { return true; });
  }
  /// The same, but only computations on the device of the run count.
  Wait before_on_device(const Run& run) const {
    return last_before(run, [&](std::uint32_t a) {
      return of_.device_of(of_.placed_.policy_plan().actions[a]) == run.device;
    });
  }
  template <class Counts>
  Wait last_before(const Run& run, const Counts& counts) const {
    const std::vector<std::uint32_t>& all = of_.computations_;
    const auto at = std::ranges::find(all, run.computations.front());
    const auto earlier = std::find_if(std::make_reverse_iterator(at), all.rend(), counts);
    if (earlier != all.rend()) return {*earlier, 0};
    return {*std::find_if(all.rbegin(), all.rend(), counts), 1};
  }

  /// Makes the computations of a run read copies of the weights. Adds the moves that make the copies to `all`.
  void add_moves(std::size_t r, std::vector<InsertedMove>& all) {
    const Run& run = of_.runs_[r];
    const std::uint32_t first = of_.placed_.first_pool(run.device), second = second_of(run);
    std::uint32_t before = run.computations.front();
    const std::vector<Wait> waits = waits_of(r, before);
    for (const Run::Weights& weights : run.weights) {
      const Tensor& held = plan_.tensors[weights.tensor];
      const auto copy = static_cast<std::uint32_t>(plan_.tensors.size());
      Action move;
      move.kind = ActionKind::move;
      move.name = "move." + std::to_string(r) + "." + held.name;
      move.stage = run.stage;
      move.flows.push_back({copy, second, first, none, held.bytes});
      routes_.send(move, move.flows.front(), mode_);
      move.allocates.push_back({copy, first});
      if (weights.listed) move.uses.push_back({weights.tensor, second});
      for (const Wait& wait : waits) move.waits.push_back(wait);
      all.push_back({std::move(move), before, {}, {{run.computations.front(), 0}}});
      plan_.tensors.push_back(
          {held.name + ".moved." + std::to_string(r), TensorClass::weight, held.bytes, none});
      for (const std::uint32_t a : run.computations) read_copy(a, run, weights.tensor, copy);
    }
  }

  std::uint32_t second_of(const Run& run) const { return of_.placed_.second_pool(run.device); }

  void read_copy(std::uint32_t a, const Run& run, std::uint32_t tensor, std::uint32_t copy) {
    Few<Access, 1> uses;
    for (const Access& use : plan_.actions[a].uses)
      if (use.tensor != tensor || use.pool != second_of(run)) uses.push_back(use);
    if (a == run.computations.front() || a == run.computations.back())
      uses.push_back({copy, of_.placed_.first_pool(run.device)});
    plan_.actions[a].uses = std::move(uses);
  }

  /// Returns the actions after which these weights of a run are in the second memory, with the numbers of the last
  /// update: their loads, and the last computation before the run that uses them. If the round loads the weights for
  /// this run, all earlier computations use older weights, so only the loads count.
  std::vector<Wait> ready(const Run& run, const Run::Weights& weights) const {
    std::vector<Wait> waits;
    for (const Wait& wait : plan_.actions[run.computations.front()].waits)
      if (std::ranges::any_of(plan_.actions[wait.action].allocates, [&](const Placement& made) {
            return made.tensor == weights.tensor && made.pool == second_of(run);
          }))
        waits.push_back(wait);
    const bool loaded_in_round = std::ranges::any_of(
        waits, [&](const Wait& wait) { return wait.action >= plan_.body_begin; });
    if (!loaded_in_round) waits.push_back(weights.used_before);
    return waits;
  }

  /// Returns the actions for which the moves of a run wait. For asynchronous moves, sets `place` to the action before
  /// which the plan can list them: the first computation of the previous run, or an action after those of ready().
  std::vector<Wait> waits_of(std::size_t r, std::uint32_t& place) const {
    const Run& run = of_.runs_[r];
    std::vector<Wait> waits;
    const auto add = [&](const Wait& wait) {
      if (std::ranges::find(waits, wait) == waits.end()) waits.push_back(wait);
    };
    if (mode_ == CopyMode::synchronous || r == 0) {
      const auto& all = plan_.actions[run.computations.front()].waits;
      waits.assign(all.begin(), all.end());
      add(before_on_device(run));
      return waits;
    }
    place = of_.runs_[r - 1].computations.front();
    for (const Run::Weights& weights : run.weights)
      for (const Wait& wait : ready(run, weights)) {
        add(wait);
        if (wait.distance == 0 && wait.action < run.computations.front())
          place = std::max(place, wait.action + 1);
      }
    add(before(of_.runs_[r - 1]));
    return waits;
  }

  const MovedWeights& of_;
  Plan plan_;
  const TensorKinds& slow_;
  CopyMode mode_;
  PlanRoutes routes_;
};

Plan MovedWeights::with_moves(Plan plan, const TensorKinds& slow, const TensorKinds& moved,
                              CopyMode mode) const {
  return Rewriter(*this, std::move(plan), slow, mode).rewrite(moved);
}

}  // namespace sluice
