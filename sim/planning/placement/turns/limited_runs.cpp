#include "planning/placement/turns/limited_runs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "execute/arithmetic/least_rest.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "plan/structure.hpp"
#include "planning/copy_time.hpp"

namespace sluice {
namespace {

using Limits = LimitedRun::Limits;
using Pools = std::vector<std::uint32_t>;

constexpr double never = std::numeric_limits<double>::infinity();
/// Approximately the most actions that those compared runs of a plan have together in their bodies for which smaller
/// limits are tried. Most plans need fewer.
constexpr std::size_t most_actions_of_inference = 10'000;
/// In training, more plans are placed, each has more such limits, and smaller limits rarely lead to a faster run.
constexpr std::size_t most_actions_of_training = 3'000;

/// Returns whether a run within smaller limits may be faster. This is so if flows of different streams cross the same
/// link, and also if devices share a pool: it grants requests in the order in which they are made.
bool limits_may_help(const Plan& plan, const Pools& pools) {
  if (std::ranges::any_of(pools, [&](std::uint32_t pool) { return plan.pools[pool].shared(); }))
    return true;
  std::map<std::uint32_t, std::uint32_t> stream_of;  // by link: the first stream that crosses it
  for (const Action& action : plan.actions)
    for (const Flow& flow : action.flows)
      for (const std::uint32_t link : plan.routes[flow.route].links)
        if (stream_of.try_emplace(link, action.stream).first->second != action.stream) return true;
  return false;
}

/// Returns the plan on a machine on which each stream has links of its own, as fast as those of the plan, and on which
/// no pool is shared and limited. There, no transfer slows down a transfer of another stream, and no grant of bytes
/// delays another grant.
Plan undisturbed(Plan plan) {
  for (Pool& pool : plan.pools) pool.enforced = pool.enforced && !pool.shared();
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> own;  // by stream and route
  const auto own_route = [&](std::uint32_t stream, std::uint32_t number) {
    const auto [found, fresh] =
        own.try_emplace({stream, number}, static_cast<std::uint32_t>(plan.routes.size()));
    if (!fresh) return found->second;
    Route route = plan.routes[number];
    route.name += " of " + plan.streams[stream].name;
    for (std::uint32_t& link : route.links) {
      plan.links.push_back(plan.links[link]);
      link = static_cast<std::uint32_t>(plan.links.size() - 1);
    }
    plan.routes.push_back(std::move(route));
    return found->second;
  };
  for (Action& action : plan.actions)
    for (Flow& flow : action.flows) flow.route = own_route(action.stream, flow.route);
  return plan;
}

/// Runs of one plan. `limits` and `reserved` are bytes in the pools. The plan has this run within all limits between the
/// two: smaller limits down to `reserved` do not change it. If the replay ended early, they do not change the run until
/// then, so it takes too long within all these limits.
struct KnownRun {
  Limits limits, reserved;
  bool includes(const Limits& other) const {
    for (std::size_t p = 0; p < other.size(); ++p)
      if (other[p] < reserved[p] || other[p] > limits[p]) return false;
    return true;
  }
};

/// Replays a plan within several limits of these pools.
class Replays {
 public:
  /// Throws InputError if the plan is wrong. `checked` says that it is not.
  Replays(Plan plan, const Pools& pools, bool checked)
      : plan_(limited(std::move(plan), pools)),
        pools_(pools),
        tables_(checked ? PlanTables(plan_) : checked_tables(plan_)) {
    if (!checked) check_totals(plan_);
    if (plan_.iterations <= few_iterations) rest_.emplace(tables_);
  }
  Replays(const Replays&) = delete;

  /// Returns nothing if the plan does not fit. The replay may end early if the run takes `worth` seconds or more.
  std::optional<ReplayResult> run(const Limits& limits, double worth) try {
    for (std::size_t p = 0; p < pools_.size(); ++p) plan_.pools[pools_[p]].limit = limits[p];
    check_memory(tables_);
    std::optional<ReplayWorth> to_beat;
    if (rest_) to_beat.emplace(worth, *rest_);
    ReplayResult result = replay(tables_, ReplayOptions{.worth = to_beat ? &*to_beat : nullptr});
    if (result.blocking) return {};
    return result;
  } catch (const Infeasible&) {
    return {};
  }

  const Plan& plan() const { return plan_; }
  /// Returns a lower bound of the seconds of the run within any limits.
  double at_least() const { return rest_ ? rest_->all_seconds() * within_accuracy : 0; }

 private:
  static Plan limited(Plan plan, const Pools& pools) {
    for (const std::uint32_t pool : pools) plan.pools[pool].limit = LimitedRun::none;
    return plan;
  }
  /// A replay of more iterations may be able to skip periods. It then does not end early.
  static constexpr std::int64_t few_iterations = 16;

  Plan plan_;
  const Pools& pools_;
  PlanTables tables_;  ///< refers to `plan_`
  std::optional<LeastRest> rest_;
};

/// Compares the runs of a plan within limits of these pools.
class LimitedRuns {
 public:
  LimitedRuns(const Plan& plan, const Pools& pools, double worth, double enough)
      : pools_(pools),
        worth_(worth),
        enough_(enough),
        limited_(plan, pools, false),
        at_least_(limited_.at_least()) {
    for (const std::uint32_t pool : pools) shared_.push_back(plan.pools[pool].shared());
  }

  LimitedRun fastest(std::size_t most_runs) {
    best_.at_least = at_least_;
    if (too_slow(at_least_)) return best_;
    undisturbed_.emplace(undisturbed(limited_.plan()), pools_, true);
    std::vector<Limits> open = {Limits(pools_.size(), LimitedRun::none)};
    while (!open.empty() && known_.size() < most_runs && best_.seconds > enough_) {
      const Limits limits = std::move(open.back());
      open.pop_back();
      const auto includes = [&](const KnownRun& run) { return run.includes(limits); };
      if (std::ranges::any_of(known_, includes) || !try_within(limits)) continue;
      for (std::size_t p = 0; p < pools_.size(); ++p) {
        open.push_back(limits);
        open.back()[p] = known_.back().reserved[p] - 1;
      }
    }
    return best_;
  }

 private:
  /// Simulates the run within these limits. If smaller limits may lead to a faster run, adds the run to `known_` and
  /// returns true. In the undisturbed plan, smaller limits do not make a run faster. So if its run takes too long, no
  /// smaller limits are tried.
  bool try_within(const Limits& limits) {
    Limits of_owners = limits;
    for (std::size_t p = 0; p < pools_.size(); ++p)
      if (shared_[p]) of_owners[p] = LimitedRun::none;
    const bool whole = known_.empty();
    const auto least = undisturbed_->run(of_owners, whole ? never : to_beat());
    if (whole)
      best_.at_least = least ? std::max(at_least_, least->makespan * within_accuracy) : never;
    if (!least || too_slow(least->makespan)) return false;
    const auto run = limited_.run(limits, to_beat());
    if (!run) return false;
    if (run->makespan < std::min(to_beat(), best_.seconds))
      best_.seconds = run->makespan, best_.limits = limits;
    if (too_slow(std::max(at_least_, least->makespan))) return false;
    known_.push_back({limits, {}});
    for (const std::uint32_t pool : pools_) known_.back().reserved.push_back(run->reserved[pool]);
    return true;
  }

  /// A run that ends early takes at least so many seconds. Seconds are only exact up to rounding.
  double to_beat() const { return std::min(worth_, best_.seconds) * (1 + 1e-9); }
  bool too_slow(double seconds) const {
    return seconds >= std::min(worth_, best_.seconds) * (1 - 1e-12);
  }

  const Pools& pools_;
  double worth_, enough_;
  Replays limited_;
  std::optional<Replays> undisturbed_;
  double at_least_;
  std::vector<bool> shared_;  ///< for each of the pools, whether several devices share it
  std::vector<KnownRun> known_;
  LimitedRun best_;
};

}  // namespace

LimitedRun fastest_within(const Plan& plan, const Pools& pools, const RunsWanted& wanted) {
  const std::size_t actions = std::max<std::size_t>(1, plan.body_end - plan.body_begin);
  const std::size_t most = wanted.training ? most_actions_of_training : most_actions_of_inference;
  if (limits_may_help(plan, pools))
    return LimitedRuns(plan, pools, wanted.worth, wanted.enough).fastest(most / actions + 1);
  LimitedRun only{.limits = Limits(pools.size(), LimitedRun::none)};
  const auto run = Replays(plan, pools, false).run(only.limits, never);
  only.seconds = run ? run->makespan : never;
  only.at_least = only.seconds * within_accuracy;
  return only;
}

std::string keep_within(const LimitedRun& run, Plan& plan,
                        const std::vector<std::uint32_t>& pools) {
  std::string text;
  for (std::size_t p = 0; p < pools.size(); ++p) {
    if (run.limits[p] == LimitedRun::none) continue;
    plan.pools[pools[p]].limit = run.limits[p];
    text += "; stays within " + format_bytes(run.limits[p]) + " of " + plan.pools[pools[p]].name;
  }
  return text;
}

}  // namespace sluice
