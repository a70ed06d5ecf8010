#include "planning/turns.hpp"

#include <algorithm>
#include <list>
#include <tuple>
#include <utility>
#include <vector>

#include "base/never.hpp"
#include "execute/arithmetic/replay.hpp"
#include "plan/passes/turns.hpp"
#include "plan/tables.hpp"
#include "planning/run_seconds_below.hpp"

namespace sluice {

namespace {

/// When each action begins, and may begin, in a simulation, in seconds.
struct Starts {
  /// For an action of the body, this is the start in an iteration in the middle of the run. In the last iteration,
  /// actions that work for a next iteration are dropped, so they have no time.
  std::vector<double> usual;
  std::vector<double> first;    ///< for an action of the body, the start of its first execution
  std::vector<double> arrival;  ///< when the data of the execution of `usual` arrives
  /// When the execution of `usual` may begin if it does not wait for its turn: its stream is free, and the actions for
  /// which it waits have ended.
  std::vector<double> ready;
  bool blocks = false;
  /// The simulated seconds of the run, if the simulation had all iterations. Infinite if the run ends in a deadlock.
  std::optional<double> run_s = {};
};

/// The time at which the data of each execution arrives, in a simulation with so many iterations of the body.
class Arrivals {
 public:
  Arrivals(const Plan& plan, std::int64_t iterations)
      : plan_(plan),
        executions_(static_cast<std::size_t>(std::max<std::int64_t>(iterations, 1))),
        seconds_(plan.actions.size() * executions_, 0) {}

  void take(const Executed& span) {
    seconds_[span.action * executions_ + static_cast<std::size_t>(span.iteration)] = span.available;
  }
  /// Returns when the last data arrives for which action number `action` waits in this iteration. It has the waits of
  /// `waiting`.
  double last(std::uint32_t action, const Action& waiting, std::int64_t iteration) const {
    double seconds = 0;
    for (const Wait& wait : waiting.waits) {
      std::int64_t execution = 0;
      if (plan_.section_of(wait.action) == Section::body)
        execution = plan_.section_of(action) == Section::body
                        ? iteration - wait.distance
                        : static_cast<std::int64_t>(executions_) - 1;
      if (execution < 0) continue;
      const std::size_t row = wait.action * executions_ + static_cast<std::size_t>(execution);
      seconds = std::max(seconds, seconds_[row]);
    }
    return seconds;
  }

 private:
  const Plan& plan_;
  std::size_t executions_;
  std::vector<double> seconds_;  ///< by action, and in each of them by iteration
};

/// Simulates `plan`, whose actions have the waits of `original`, and perhaps waits for turns.
Starts starts_of(const Plan& plan, const Plan& original) {
  constexpr std::int64_t enough = 16;
  std::optional<Plan> shorter;
  if (plan.iterations > enough) {
    shorter = plan;
    shorter->iterations = enough;
  }
  const Plan& some = shorter ? *shorter : plan;
  Starts starts{.usual = std::vector<double>(plan.actions.size(), 0),
                .first = std::vector<double>(plan.actions.size(), never),
                .arrival = std::vector<double>(plan.actions.size(), never),
                .ready = std::vector<double>(plan.actions.size(), 0)};
  Arrivals arrivals(plan, some.iterations);
  const std::int64_t middle =
      std::max<std::int64_t>(0, std::min(some.iterations / 2, some.iterations - 2));
  const ReplayResult result = replay(some, [&](const Executed& span) {
    arrivals.take(span);
    starts.first[span.action] = std::min(starts.first[span.action], span.start);
    if (plan.section_of(span.action) != Section::body || span.iteration <= middle) {
      starts.usual[span.action] = span.start;
      starts.arrival[span.action] = span.available;
      starts.ready[span.action] = span.start - span.waited;
    }
  });
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a)
    starts.ready[a] = std::max(starts.ready[a], arrivals.last(a, original.actions[a], middle));
  starts.blocks = result.blocking.has_value();
  if (!shorter) starts.run_s = starts.blocks ? never : result.makespan;
  return starts;
}

/// Returns for each transfer the time at which its data is needed: the earliest start of an action that waits for it. A
/// transfer for which no action of the same iteration waits has its own start. In each section, a stream executes its
/// transfers in listing order, so a transfer is needed at the latest when the next one on its stream is needed.
std::vector<double> needs_of(const Plan& plan, const Starts& starts) {
  std::vector<double> needs(plan.actions.size(), never);
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a)
    for (const Wait& wait : plan.actions[a].waits)
      if (wait.distance == 0) {
        const bool inside = plan.section_of(wait.action) == plan.section_of(a);
        double& need = needs[wait.action];
        need = std::min(need, inside ? starts.usual[a] : starts.first[a]);
      }
  std::vector<std::uint32_t> next(plan.streams.size(), none);
  for (auto a = static_cast<std::uint32_t>(plan.actions.size()); a-- > 0;) {
    if (!plan.actions[a].is_transfer()) continue;
    if (needs[a] == never) needs[a] = starts.usual[a];
    const std::uint32_t after = std::exchange(next[plan.actions[a].stream], a);
    if (after != none && plan.section_of(after) == plan.section_of(a))
      needs[a] = std::min(needs[a], needs[after]);
  }
  return needs;
}

/// Returns times that put the transfers of each stream in a row: each change to another stream costs a latency, because
/// the next transfer waits until the data of the transfer before it have arrived. Transfers form groups. A group has
/// all transfers that begin before the first data of the group arrive, so none of them waits for another one of the
/// group. In each group, the streams come in the order of the plan's table, so the replica that loads first also saves
/// first.
std::vector<double> rows_of(const Plan& plan, const Starts& starts) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a)
    if (plan.actions[a].is_transfer()) order.push_back(a);
  std::ranges::sort(order, {}, [&](std::uint32_t a) {
    return std::make_tuple(plan.section_of(a), starts.usual[a], a);
  });
  std::vector<double> times(plan.actions.size(), 0);
  Section section = Section::prologue;
  double first_row = 0, arrival = never;
  for (const std::uint32_t a : order) {
    if (plan.section_of(a) != section || starts.usual[a] >= arrival) {
      first_row += static_cast<double>(plan.streams.size());
      arrival = never;
    }
    section = plan.section_of(a);
    arrival = std::min(arrival, starts.arrival[a]);
    times[a] = first_row + plan.actions[a].stream;
  }
  return times;
}

/// What a caller wants to know: the fastest order, or all orders. To find all of them, few need to be simulated.
enum class WantedOrders : std::uint8_t { fastest, all };

/// Tries orders in which the transfers of a plan take turns. Plans may be large, so there is only one copy: it gets the
/// waits of one order after the other.
class Orders {
 public:
  Orders(const Plan& plan, std::vector<char> link_shared, WantedOrders wanted)
      : plan_(plan), link_shared_(std::move(link_shared)), wanted_(wanted), turned_(plan) {}

  /// Takes the order, unless an equal order was tried before. Simulates it if the fastest order is wanted.
  void take(const std::vector<double>& order) {
    const auto* waits = added(order);
    if (waits && wanted_ == WantedOrders::fastest) simulate(*waits);
  }
  /// Does what take() does, and returns the starts in the simulation.
  Starts starts_with(const std::vector<double>& order) {
    if (std::optional<Starts> fresh = starts_if_new(order)) return std::move(*fresh);
    return simulated_starts(waits_of_turns(plan_, link_shared_, order));
  }
  /// Does what starts_with() does, but returns nothing if an equal order was tried before.
  std::optional<Starts> starts_if_new(const std::vector<double>& order) {
    const auto* waits = added(order);
    if (!waits) return {};
    Starts starts = simulated_starts(*waits);
    if (wanted_ == WantedOrders::fastest) {
      if (starts.run_s)
        note(*waits, *starts.run_s);
      else
        simulate(*waits);
    }
    return starts;
  }
  /// Returns the plan with the fastest order. Of equally fast orders, this is the first one that was taken. There is no
  /// such plan if all orders block.
  std::optional<TimedPlan> fastest() && {
    if (!fastest_) return {};
    set(*fastest_);
    return TimedPlan{std::move(turned_), fastest_s_};
  }
  /// Returns a plan for each order, also for those that block.
  std::vector<Plan> plans() {
    std::vector<Plan> all;
    for (const std::vector<TurnWait>& waits : tried_) {
      set(waits);
      all.push_back(turned_);
      reset(waits);
    }
    return all;
  }

 private:
  /// Returns the waits of the order, or null if an equal order was tried before.
  const std::vector<TurnWait>* added(const std::vector<double>& order) {
    std::vector<TurnWait> waits = waits_of_turns(plan_, link_shared_, order);
    if (std::ranges::find(tried_, waits) != tried_.end()) return nullptr;
    return &tried_.emplace_back(std::move(waits));
  }
  Starts simulated_starts(const std::vector<TurnWait>& waits) {
    set(waits);
    Starts starts = starts_of(turned_, plan_);
    reset(waits);
    return starts;
  }
  void simulate(const std::vector<TurnWait>& waits) {
    set(waits);
    note(waits, run_seconds_below(turned_, fastest_s_));
    reset(waits);
  }
  void note(const std::vector<TurnWait>& waits, double seconds) {
    if (!(seconds < fastest_s_)) return;
    fastest_ = &waits;
    fastest_s_ = seconds;
  }
  void set(const std::vector<TurnWait>& waits) {
    for (const TurnWait& one : waits) turned_.actions[one.action].waits.push_back(one.wait);
  }
  void reset(const std::vector<TurnWait>& waits) {
    for (const TurnWait& one : waits)
      turned_.actions[one.action].waits = plan_.actions[one.action].waits;
  }

  const Plan& plan_;
  std::vector<char> link_shared_;
  WantedOrders wanted_;
  Plan turned_;  ///< the plan, with the waits of the order that is simulated
  std::list<std::vector<TurnWait>> tried_;
  const std::vector<TurnWait>* fastest_ = nullptr;
  double fastest_s_ = never;
};

/// The orders that were tried, if links are shared and the given plan does not block, and the seconds of the given
/// plan.
struct Tried {
  std::optional<Orders> orders = {};
  std::optional<double> together_s = {};
};

Tried tried_orders(const Plan& plan, WantedOrders wanted) {
  Tried tried;
  std::vector<char> link_shared;
  {
    const PlanTables tables(plan);
    if (tables.contention_free()) return tried;
    link_shared = tables.link_shared;
  }
  const Starts starts = starts_of(plan, plan);
  tried.together_s = starts.run_s;
  if (starts.blocks) return tried;
  Orders& orders = tried.orders.emplace(plan, std::move(link_shared), wanted);
  // In a run in which transfers take turns, others are ready first, and other data is needed first.
  const Starts in_rows = orders.starts_with(rows_of(plan, starts));
  const Starts as_ready = orders.starts_with((in_rows.blocks ? starts : in_rows).ready);
  if (!as_ready.blocks) orders.take(needs_of(plan, as_ready));
  orders.take(starts.usual);
  orders.take(needs_of(plan, starts));
  const std::optional<Starts> as_first = orders.starts_if_new(starts.first);
  if (as_first && !as_first->blocks) orders.take(needs_of(plan, *as_first));
  return tried;
}

}  // namespace

Turns in_turn(const Plan& plan) {
  Tried tried = tried_orders(plan, WantedOrders::fastest);
  if (!tried.orders) return {.together_s = tried.together_s};
  return {std::move(*tried.orders).fastest(), tried.together_s};
}

std::vector<Plan> orders_in_turn(const Plan& plan) {
  Tried tried = tried_orders(plan, WantedOrders::all);
  return tried.orders ? tried.orders->plans() : std::vector<Plan>();
}

}  // namespace sluice
