#include "planning/placement/turns/waiting_tensors.hpp"
#include "planning/joined_replicas.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "execute/arithmetic/replay.hpp"
#include "plan/tables.hpp"
#include "planning/copy_time.hpp"
#include "planning/placement/plan_routes.hpp"
#include "planning/placement/turns/inserted_moves.hpp"

namespace sluice {
namespace {

/// Adds the moves of waiting tensors to a placed plan.
class WaitingRewriter {
 public:
  WaitingRewriter(Plan plan, const PlacedPrices& prices, const PlacedKinds& placed, CopyMode mode,
                  bool in_turn)
      : plan_(std::move(plan)),
        prices_(prices),
        placed_(placed),
        mode_(mode),
        in_turn_(in_turn),
        routes_(plan_, prices.request().pricing.platform) {}

  Plan rewrite(std::vector<WaitingGap> gaps) {
    std::ranges::stable_sort(gaps, {}, &WaitingGap::leaves_after);
    find_users(gaps);
    std::vector<std::pair<std::uint32_t, InsertedMove>> back;  // with the computation that waits
    for (const WaitingGap& gap : gaps) {
      Waiting& waiting = waiting_[{gap.tensor, gap.device}];
      if (waiting.here == none) begin(gap, waiting);
      const bool changed =
          gap.stays || plan_.tensors[gap.tensor].tensor_class == TensorClass::gradient;
      if (changed || waiting.away == none) moves_.push_back(leave(gap, waiting));
      back.emplace_back(gap.needed_by, come_back(gap, waiting));
    }
    // A move away is listed directly after a computation, so it comes before the moves back at the same place.
    std::ranges::stable_sort(back, {}, [](const auto& one) { return one.first; });
    for (auto& [needed_by, move] : back) moves_.push_back(std::move(move));
    if (mode_ == CopyMode::synchronous) run_in_turn();
    insert_moves(plan_, std::move(moves_));
    say_moved_bytes(plan_);
    return std::move(plan_);
  }

 private:
  /// The numbers of a waiting tensor in the plan: in the first memory since its last move, and in the second memory.
  /// `left_by` is the index of the move that made the copy in the second memory.
  struct Waiting {
    std::uint32_t here = none, away = none;
    std::size_t left_by = 0;
    /// The computations that list the tensor in the first memory.
    std::vector<std::uint32_t> users;
  };

  void find_users(const std::vector<WaitingGap>& gaps) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, Waiting*> of;  // by tensor and first memory
    for (const WaitingGap& gap : gaps)
      of[{gap.tensor, placed_.first_pool(gap.device)}] = &waiting_[{gap.tensor, gap.device}];
    for (std::uint32_t a = plan_.body_begin; a < plan_.body_end; ++a)
      for (const Access& use : plan_.actions[a].uses)
        if (const auto found = of.find({use.tensor, use.pool}); found != of.end())
          if (!plan_.actions[a].is_transfer()) found->second->users.push_back(a);
  }

  /// A tensor that stays on the device gets its place in the second memory, for the whole run. The plan does not list
  /// it among the operands of computations. The first and the last computation of a round that use it must list the
  /// copy in the first memory.
  void begin(const WaitingGap& gap, Waiting& waiting) {
    waiting.here = gap.tensor;
    if (!gap.stays) return;
    waiting.away = gap.tensor;
    waiting.here = copy_of(gap.tensor, ".back.");
    const std::uint32_t first = placed_.first_pool(gap.device);
    plan_.actions[gap.needed_by].uses.push_back({waiting.here, first});
    if (gap.leaves_after != gap.needed_by)
      plan_.actions[gap.leaves_after].uses.push_back({waiting.here, first});
    for (std::uint32_t a = 0; a < plan_.body_begin; ++a)
      for (Placement& made : plan_.actions[a].allocates)
        if (made == Placement{gap.tensor, first}) made.pool = placed_.second_pool(gap.device);
  }

  std::uint32_t copy_of(std::uint32_t tensor, const char* what) {
    Tensor copy = plan_.tensors[tensor];
    copy.name += what + std::to_string(plan_.tensors.size());
    copy.home = none;
    plan_.tensors.push_back(std::move(copy));
    return static_cast<std::uint32_t>(plan_.tensors.size() - 1);
  }

  /// Returns a move with this flow. Its stage and its micro-batch are those of the action `beside`.
  Action move(const char* word, const WaitingGap& gap, std::uint32_t beside, Flow flow) {
    flow.bytes = plan_.tensors[gap.tensor].bytes;
    Action move;
    move.kind = ActionKind::move;
    move.name = word + std::to_string(named_++) + "." + plan_.tensors[gap.tensor].name;
    move.stage = plan_.actions[beside].stage;
    move.micro_batch = plan_.actions[beside].micro_batch;
    move.flows.push_back(flow);
    routes_.send(move, move.flows.front(), mode_);
    return move;
  }

  InsertedMove leave(const WaitingGap& gap, Waiting& waiting) {
    const std::uint32_t first = placed_.first_pool(gap.device),
                        second = placed_.second_pool(gap.device);
    if (!gap.stays) waiting.away = copy_of(gap.tensor, ".away.");
    Action action =
        move("away.", gap, gap.leaves_after, {.tensor = waiting.away, .from = first, .to = second});
    action.uses.push_back({waiting.here, first});
    if (gap.stays)
      action.uses.push_back(
          {.tensor = waiting.away, .pool = second, .read = false, .written = true});
    else
      action.allocates.push_back({waiting.away, second});
    action.waits.push_back({gap.leaves_after, 0});
    waiting.left_by = moves_.size();
    return {std::move(action), gap.leaves_after + 1, {}, {}};
  }

  InsertedMove come_back(const WaitingGap& gap, Waiting& waiting) {
    const std::uint32_t first = placed_.first_pool(gap.device),
                        second = placed_.second_pool(gap.device);
    if (!gap.stays) {
      const std::uint32_t left = std::exchange(waiting.here, copy_of(gap.tensor, ".back."));
      for (const std::uint32_t a : waiting.users)
        if (a >= gap.needed_by)
          for (Access& use : plan_.actions[a].uses)
            if (use.tensor == left && use.pool == first) use.tensor = waiting.here;
    }
    Action action =
        move("back.", gap, gap.needed_by, {.tensor = waiting.here, .from = second, .to = first});
    action.allocates.push_back({waiting.here, first});
    action.uses.push_back({waiting.away, second});
    if (gap.stays)
      for (std::uint32_t a = 0; a < plan_.body_begin; ++a)
        if (std::ranges::count(plan_.actions[a].allocates,
                               Placement{waiting.away, placed_.second_pool(gap.device)}) > 0)
          action.waits.push_back({a, 0});
    if (mode_ == CopyMode::synchronous)
      for (const Wait& wait : plan_.actions[gap.needed_by].waits) action.waits.push_back(wait);
    else
      action.waits.push_back(gap.back_after);
    return {std::move(action),
            gap.back_before,
            {{waiting.left_by, gap.stays ? 1U : 0U}},
            {{gap.needed_by, 0}}};
  }

  /// Makes the computations and the moves of each device run one after the other, in listing order. If no action
  /// overlaps another action, all actions of the plan are in this order already, and the moves join them.
  void run_in_turn() {
    std::vector<std::vector<std::size_t>> at(plan_.body_end + 1);  // the moves before each action
    for (std::size_t m = 0; m < moves_.size(); ++m) at[moves_[m].before].push_back(m);
    for (std::size_t d = 0; d < (in_turn_ ? 1 : prices_.devices().size()); ++d) {
      const auto is_here = [&](const Action& action) {
        return in_turn_ || plan_.streams[action.stream].device == prices_.devices()[d]->name;
      };
      Last last;
      for (const bool first : {true, false}) {
        // The first time finds the last action of a round, after which the next round begins.
        if (!first) last.distance = 1;
        for (std::uint32_t a = plan_.body_begin; a <= plan_.body_end; ++a) {
          for (const std::size_t m : at[a])
            if (is_here(moves_[m].action)) {
              if (!first) follow(m, last);
              last = {none, m, 0};
            }
          if (a == plan_.body_end || !is_here(plan_.actions[a])) continue;
          const Action& action = plan_.actions[a];
          if (!in_turn_ && action.is_transfer() && action.kind != ActionKind::move) continue;
          if (!first && last.move != no_move)
            moves_[last.move].waited_by.push_back({a, last.distance});
          // The last rounds leave out an action that works ahead, so nothing waits for it.
          if (action.ahead == 0) last = {a, no_move, 0};
        }
      }
    }
  }

  static constexpr std::size_t no_move = std::numeric_limits<std::size_t>::max();
  /// The action or the move that was listed last, and how many rounds ago.
  struct Last {
    std::uint32_t action = none;
    std::size_t move = no_move;
    std::uint32_t distance = 0;
  };

  void follow(std::size_t m, const Last& last) {
    if (last.move != no_move)
      moves_[m].after.push_back({last.move, last.distance});
    else if (last.action != none)
      moves_[m].action.waits.push_back({last.action, last.distance});
  }

  Plan plan_;
  const PlacedPrices& prices_;
  const PlacedKinds& placed_;
  CopyMode mode_;
  bool in_turn_;
  PlanRoutes routes_;
  std::map<std::pair<std::uint32_t, std::size_t>, Waiting> waiting_;  ///< by tensor and device
  std::vector<InsertedMove> moves_;
  std::size_t named_ = 0;
};

}  // namespace

Plan with_waiting(Plan plan, const PlacedPrices& prices, const PlacedKinds& placed,
                  std::vector<WaitingGap> gaps, CopyMode mode, bool in_turn) {
  return WaitingRewriter(std::move(plan), prices, placed, mode, in_turn).rewrite(std::move(gaps));
}

double busy_seconds(const Plan& plan, CopyMode mode) {
  std::vector<double> streams(plan.streams.size(), 0);
  std::map<std::string, double> devices;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    const Action& action = plan.actions[a];
    const double seconds = static_cast<double>(plan.executions_of(a)) * seconds_alone(plan, action);
    streams[action.stream] += seconds;
    if (mode == CopyMode::synchronous && (!action.is_transfer() || action.kind == ActionKind::move))
      devices[plan.streams[action.stream].device] += seconds;
  }
  double longest = 0;
  for (const double seconds : streams) longest = std::max(longest, seconds);
  for (const auto& [device, seconds] : devices) longest = std::max(longest, seconds);
  return longest * within_accuracy;
}

WaitingTensors::WaitingTensors(PlacedPrices& prices, const PlacedKinds& placed,
                               std::function<Plan()> base, CopyMode mode, bool in_turn)
    : prices_(prices),
      placed_(placed),
      make_base_(std::move(base)),
      mode_(mode),
      in_turn_(in_turn) {}

/// Returns whether the placed plan is surely as fast as with any moves of waiting tensors: if no action waits for room
/// in a first memory. If transfers share links, perhaps with those of other replicas, or if devices share a memory,
/// nothing is sure: a plan may be faster when a transfer waits (limited_runs.hpp).
bool WaitingTensors::has_room(const Plan& base) const {
  if (joined_replicas(prices_.request())) return false;
  const PlanTables tables(base);
  if (!tables.contention_free()) return false;
  for (const std::uint32_t pool : placed_.pools())
    if (base.pools[pool].shared()) return false;
  const ReplayResult run = replay(tables, {.unlimited = true});
  for (std::size_t d = 0; d < prices_.devices().size(); ++d) {
    const Pool& pool = base.pools[placed_.first_pool(d)];
    if (pool.limited() && run.reserved[placed_.first_pool(d)] > pool.most()) return false;
  }
  return true;
}

/// Returns whether the bytes fit into the first memories.
bool WaitingTensors::fits(const Plan& base, const WaitingGaps::Choice& choice) const {
  for (std::size_t d = 0; d < choice.bytes.size(); ++d) {
    const Pool& pool = base.pools[placed_.first_pool(d)];
    if (pool.limited() && choice.bytes[d] > pool.most()) return false;
  }
  return true;
}

void WaitingTensors::choose() {
  Plan base = make_base_();
  const WaitingGaps gaps(prices_, placed_, base, mode_);
  for (const WaitingGaps::Choice& choice : gaps.choices()) {
    if (!fits(base, choice)) continue;
    choices_.emplace_back();
    for (const std::size_t g : choice.gaps) choices_.back().push_back(gaps.all()[g]);
  }
  if (!choices_.empty() && has_room(base)) choices_.clear();
  if (!choices_.empty()) base_ = std::move(base);
}

std::optional<Plan> WaitingTensors::plan(std::size_t n, double worth) {
  if (!std::exchange(asked_, true)) choose();
  if (n >= choices_.size()) return {};
  const bool last = n + 1 == choices_.size();  // then the base is not needed any more
  Plan plan = with_waiting(last ? std::move(*base_) : *base_, prices_, placed_, choices_[n], mode_,
                           in_turn_);
  if (last) {
    base_.reset();
    choices_.clear();
  }
  if (busy_seconds(plan, mode_) >= worth) return {};
  return plan;
}

}  // namespace sluice
