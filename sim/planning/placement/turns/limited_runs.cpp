#include "planning/placement/turns/limited_runs.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"

namespace sluice {
namespace {

using Limits = LimitedRun::Limits;
using Pools = std::vector<std::uint32_t>;

/// Approximately the most actions that those compared runs of a plan have together in their bodies for which smaller
/// limits are tried. Most plans need fewer.
constexpr std::size_t most_actions_of_runs = 10'000;

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
/// two: smaller limits down to `reserved` do not change it.
struct KnownRun {
  Limits limits, reserved;
  bool includes(const Limits& other) const {
    for (std::size_t p = 0; p < other.size(); ++p)
      if (other[p] < reserved[p] || other[p] > limits[p]) return false;
    return true;
  }
};

/// Replays the plan. Returns nothing if it does not fit.
std::optional<ReplayResult> replayed(const Plan& plan) try {
  ReplayResult result = replay(check_without_replay(plan));
  if (result.blocking) return {};
  return result;
} catch (const Infeasible&) {
  return {};
}

/// Replays the plan within these limits.
std::optional<ReplayResult> replayed(Plan& plan, const Pools& pools, const Limits& limits) {
  for (std::size_t p = 0; p < pools.size(); ++p) plan.pools[pools[p]].limit = limits[p];
  return replayed(plan);
}

/// Compares the runs of a plan within limits of these pools.
class LimitedRuns {
 public:
  LimitedRuns(const Plan& plan, const Pools& pools, double worth, double enough)
      : pools_(pools), worth_(worth), enough_(enough), limited_(plan), undisturbed_(undisturbed(plan)) {
    for (const std::uint32_t pool : pools) shared_.push_back(plan.pools[pool].shared());
  }

  LimitedRun fastest(std::size_t most_runs) {
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
    const auto least = replayed(undisturbed_, pools_, of_owners);
    if (!least || too_slow(least->makespan)) return false;
    const auto run = replayed(limited_, pools_, limits);
    if (!run) return false;
    if (run->makespan < best_.seconds) best_ = {run->makespan, limits};
    if (too_slow(least->makespan)) return false;
    known_.push_back({limits, {}});
    for (const std::uint32_t pool : pools_) known_.back().reserved.push_back(run->reserved[pool]);
    return true;
  }

  bool too_slow(double seconds) const {
    return seconds >= std::min(worth_, best_.seconds) * (1 - 1e-12);
  }

  const Pools& pools_;
  double worth_, enough_;
  Plan limited_, undisturbed_;
  std::vector<bool> shared_;  ///< for each of the pools, whether several devices share it
  std::vector<KnownRun> known_;
  LimitedRun best_;
};

}  // namespace

LimitedRun fastest_within(const Plan& plan, const Pools& pools, double worth, double enough) {
  const std::size_t actions = std::max<std::size_t>(1, plan.body_end - plan.body_begin);
  if (limits_may_help(plan, pools))
    return LimitedRuns(plan, pools, worth, enough).fastest(most_actions_of_runs / actions + 1);
  LimitedRun only{.limits = Limits(pools.size(), LimitedRun::none)};
  if (const auto run = replayed(plan)) only.seconds = run->makespan;
  return only;
}

}  // namespace sluice
