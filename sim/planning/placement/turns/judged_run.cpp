#include "planning/placement/turns/judged_run.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "plan/passes/one_stream.hpp"
#include "planning/copy_time.hpp"
#include "planning/joined_replicas.hpp"
#include "planning/placement/turns/limited_runs.hpp"
#include "planning/replica.hpp"
#include "planning/run_seconds_below.hpp"

namespace sluice {
namespace {

/// The two memories of each device, or its only memory, as pools of a plan. The first memories come first.
struct MemoryPools {
  std::vector<std::uint32_t> pools;
  std::size_t firsts = 0;
};

MemoryPools pools_of(const Plan& plan, const std::vector<const Device*>& devices) {
  MemoryPools both;
  for (const std::size_t m : {std::size_t{0}, std::size_t{1}}) {
    for (const Device* device : devices) {
      if (m >= device->memories.size()) continue;  // host memory is the second memory
      const auto found = std::ranges::find(plan.pools, device->memories[m].pool, &Pool::name);
      const auto pool = static_cast<std::uint32_t>(found - plan.pools.begin());
      if (found != plan.pools.end() && std::ranges::count(both.pools, pool) == 0)
        both.pools.push_back(pool);
    }
    std::sort(both.pools.begin() + static_cast<std::ptrdiff_t>(both.firsts), both.pools.end());
    if (m == 0) both.firsts = both.pools.size();
  }
  return both;
}

JudgedRun run_of_one(const Plan& placed, const JudgedRunWanted& wanted) {
  const MemoryPools both = pools_of(placed, wanted.devices);
  const LimitedRun run = fastest_within(
      placed, both.pools, {.worth = wanted.worth, .enough = wanted.enough, .firsts = both.firsts});
  JudgedRun judged{.seconds = run.seconds, .at_least = run.at_least};
  if (run.seconds == std::numeric_limits<double>::infinity()) return judged;
  Plan limited = placed;
  judged.text = keep_within(run, limited, both.pools);
  judged.plan = [made = std::make_shared<const Plan>(std::move(limited))](const auto& say) {
    Plan said = *made;
    say(said);
    return said;
  };
  return judged;
}

/// Judges the runs of all replicas.
class RunOfReplicas {
  using How = const char*;
  static constexpr How in_turn = "in turn", together = "together", each_in_turn = "each in turn";

 public:
  RunOfReplicas(const JoinedReplicas& replicas, const JudgedRunWanted& wanted)
      : replicas_(replicas), wanted_(wanted) {
    for (const std::string& name : replicas.devices)
      devices_.push_back(&wanted.request.pricing.platform.device(name));
  }

  JudgedRun fastest(const Plan& placed) {
    const Platform& share = *wanted_.request.replicas->share;
    if (!(seconds_of_busiest_link({&placed, 1}, share) < wanted_.worth)) return {};
    const Plan all = replicas_.plan(placed);
    const MemoryPools both = pools_of(all, devices_);
    if (replicas_.transfers == ReplicaTransfers::any) {
      // Transfers that take turns have more waits, so this bound holds for their runs, too.
      const double at_least = take(all, both, together);
      if (at_least < to_beat() * within_accuracy) take_in_turn(placed, all, both);
    } else {
      if (replicas_.transfers == ReplicaTransfers::in_turn) take_orders(all, both);
      if (!best_made_) take(all, both, together);
      transfers_.clear();
    }
    if (best_made_) best_.plan = plan_of(placed);
    return std::move(best_);
  }

 private:
  void take_in_turn(const Plan& placed, const Plan& all, const MemoryPools& both) {
    take_orders(all, both);
    Plan one_stream = placed;
    // If no streams of a replica share links, the plan stays the same.
    if (use_one_stream(one_stream) && !std::ranges::equal(one_stream.actions, placed.actions, {},
                                                          &Action::stream, &Action::stream))
      take_each_in_turn(replicas_.plan(one_stream), both);
  }

  /// Takes the plan with transfers that take turns in several orders. Only transfers of the same section, iteration and
  /// `ahead` take turns, so transfers may still share links. So an order is compared within limits, too.
  void take_orders(const Plan& plan, const MemoryPools& both) {
    for (const Plan& order : orders_in_any_memory(plan)) take_if_possible(order, both, in_turn);
  }

  /// Takes a plan in which each replica has one stream for all of its transfers. The waits of such a plan may form a
  /// cycle with the order of its streams. Then the plan is not possible.
  void take_each_in_turn(const Plan& plan, const MemoryPools& both) try {
    if (!(least_seconds_of(plan) < to_beat())) return;
    take_orders(plan, both);
    take(plan, both, each_in_turn);
  } catch (const InputError&) {
  }

  void take_if_possible(const Plan& plan, const MemoryPools& both, How transfers) try {
    take(plan, both, transfers);
  } catch (const InputError&) {
    // The waits and the order of the streams form a cycle.
  }

  /// Returns the seconds that a run must not reach.
  double to_beat() const { return std::min(wanted_.worth, best_.seconds); }

  /// Simulates the plan within limits, and keeps its fastest run if no earlier run is as fast. Returns a lower bound of
  /// the seconds of all these runs.
  double take(const Plan& plan, const MemoryPools& both, How transfers) {
    const double worth = to_beat();
    const LimitedRun run = fastest_within(plan, both.pools,
                                          {.worth = worth,
                                           .enough = wanted_.enough,
                                           .firsts = both.firsts,
                                           .alike = true,
                                           .in_turn = false});
    if (!(run.seconds < worth)) return run.at_least;
    Plan limited = plan;
    best_.seconds = run.seconds;
    best_.text = keep_within(run, limited, both.pools);
    if (transfers == in_turn) best_.text.insert(0, "; transfers that share links take turns");
    best_made_ = std::make_shared<const Plan>(std::move(limited));
    transfers_ = transfers;
    return run.at_least;
  }

  /// Returns the function JudgedRun::plan.
  std::function<Plan(const std::function<void(Plan&)>&)> plan_of(const Plan& placed) const {
    return [made = best_made_, first = std::make_shared<const Plan>(placed), how = transfers_,
            join = replicas_.plan](const auto& say) {
      Plan said = *first;
      say(said);
      Plan all = *made;
      all.facts = join(said).facts;
      if (!how.empty()) all.facts.emplace_back("transfers", how);
      return all;
    };
  }

  const JoinedReplicas& replicas_;
  const JudgedRunWanted& wanted_;
  std::vector<const Device*> devices_;
  JudgedRun best_;
  std::shared_ptr<const Plan> best_made_;
  std::string transfers_;  ///< the fact `transfers`
};

}  // namespace

JudgedRun judged_run(const Plan& placed, const JudgedRunWanted& wanted) {
  if (const JoinedReplicas* const replicas = joined_replicas(wanted.request))
    return RunOfReplicas(*replicas, wanted).fastest(placed);
  return run_of_one(placed, wanted);
}

}  // namespace sluice
