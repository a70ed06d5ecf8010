#include "planning/turns.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "execute/arithmetic/replay.hpp"
#include "plan/passes/turns.hpp"
#include "plan/tables.hpp"

namespace sluice {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// The start of each action in a simulation, in seconds.
struct Starts {
  /// For an action of the body, this is the start in an iteration in the middle of the run. In the last iteration, actions
  /// that work for a next iteration are dropped, so they have no time.
  std::vector<double> usual;
  std::vector<double> first;    ///< for an action of the body, the start of its first execution
  std::vector<double> arrival;  ///< when the data of the execution of `usual` arrives
  /// The seconds of the run, if the simulation had all its iterations. They are infinite if the run blocks.
  std::optional<double> run_s;
  bool blocks = false;
};

Starts starts_of(const Plan& plan) {
  constexpr std::int64_t enough = 16;
  std::optional<Plan> shorter;
  if (plan.iterations > enough) shorter.emplace(plan).iterations = enough;
  const Plan& some = shorter ? *shorter : plan;
  Starts starts{.usual = std::vector<double>(plan.actions.size(), 0),
                .first = std::vector<double>(plan.actions.size(), never),
                .arrival = std::vector<double>(plan.actions.size(), never)};
  const std::int64_t middle =
      std::max<std::int64_t>(0, std::min(some.iterations / 2, some.iterations - 2));
  const ReplayResult result = replay(some, [&](const Executed& span) {
    starts.first[span.action] = std::min(starts.first[span.action], span.start);
    if (plan.section_of(span.action) != Section::body || span.iteration <= middle) {
      starts.usual[span.action] = span.start;
      starts.arrival[span.action] = span.available;
    }
  });
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

}  // namespace

std::vector<TimedPlan> in_turn(const Plan& plan) {
  const PlanTables tables(plan);
  if (tables.contention_free()) return {};
  const Starts starts = starts_of(plan);
  if (starts.blocks) return {};
  std::vector<TimedPlan> plans;
  const auto same = [](const Action& a, const Action& b) { return a.waits == b.waits; };
  /// Returns the index of the plan with this order.
  const auto add = [&](const std::vector<double>& order) {
    Plan turns = plan;
    take_turns(turns, order, tables.link_shared);
    const auto known = std::ranges::find_if(plans, [&](const TimedPlan& other) {
      return std::ranges::equal(turns.actions, other.plan.actions, same);
    });
    const std::size_t index = static_cast<std::size_t>(known - plans.begin());
    if (known == plans.end()) plans.push_back({std::move(turns)});
    return index;
  };
  for (const std::vector<double>& order :
       {starts.usual, needs_of(plan, starts), rows_of(plan, starts)})
    add(order);
  // In a run in which transfers do not slow each other down, other data may be needed first.
  TimedPlan& first = plans[add(starts.first)];
  const Starts one_by_one = starts_of(first.plan);
  first.known_s = one_by_one.run_s;
  if (!one_by_one.blocks) add(needs_of(plan, one_by_one));
  return plans;
}

}  // namespace sluice
