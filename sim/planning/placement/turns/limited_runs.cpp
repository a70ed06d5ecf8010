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
using Pools = std::array<std::uint32_t, 2>;

/// Limits are compared for plans whose body has at most this many actions. For larger plans, this would take too long.
constexpr std::size_t most_actions = 100;
/// Approximately the most actions that the compared runs of a plan have together in their bodies. Most plans need fewer.
constexpr std::size_t most_actions_of_runs = 10'000;

/// Returns whether a run within smaller limits may be faster: whether flows of different streams cross the same link.
/// In a pool that no device owns, requests are granted in the order of time. Then nothing is known about smaller
/// limits.
bool limits_may_help(const Plan& plan, const Pools& pools) {
  if (plan.body_end - plan.body_begin > most_actions) return false;
  for (const std::uint32_t pool : pools)
    if (plan.pools[pool].shared()) return false;
  std::map<std::uint32_t, std::uint32_t> stream_of;  // by link: the first stream that crosses it
  for (const Action& action : plan.actions)
    for (const Flow& flow : action.flows)
      for (const std::uint32_t link : plan.routes[flow.route].links)
        if (stream_of.try_emplace(link, action.stream).first->second != action.stream) return true;
  return false;
}

/// Returns the plan on a machine on which each stream has links of its own, as fast as those of the plan. There, no
/// transfer slows down a transfer of another stream.
Plan with_own_links(Plan plan) {
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

/// Runs of one plan. `limits` and `reserved` are bytes in the two pools. The plan has this run within all limits between
/// the two: smaller limits down to `reserved` do not change it.
struct KnownRun {
  Limits limits, reserved;
  bool includes(const Limits& other) const {
    return reserved[0] <= other[0] && other[0] <= limits[0] && reserved[1] <= other[1] &&
           other[1] <= limits[1];
  }
};

void limit(Plan& plan, const Pools& pools, const Limits& limits) {
  for (std::size_t p = 0; p < pools.size(); ++p) plan.pools[pools[p]].limit = limits[p];
}

/// Replays the plan. Returns nothing if it does not fit.
std::optional<ReplayResult> replayed(const Plan& plan) try {
  ReplayResult result = replay(check_without_replay(plan));
  if (result.blocking) return {};
  return result;
} catch (const Infeasible&) {
  return {};
}

}  // namespace

// On a machine with own links, no run is slower, and smaller limits do not make a run faster. So if the run there takes
// too long, no smaller limits are tried.
LimitedRun fastest_within(const Plan& plan, const Pools& pools, double worth, double enough) {
  LimitedRun best;
  if (!limits_may_help(plan, pools)) {
    if (const auto only = replayed(plan)) best.seconds = only->makespan;
    return best;
  }
  const auto too_slow = [&](double seconds) {
    return seconds >= std::min(worth, best.seconds) * (1 - 1e-12);
  };
  Plan limited = plan, alone = with_own_links(plan);
  std::vector<KnownRun> known;
  std::vector<Limits> open = {best.limits};
  const std::size_t most_runs =
      most_actions_of_runs / std::max<std::size_t>(1, plan.body_end - plan.body_begin);
  while (!open.empty() && known.size() < most_runs) {
    const Limits limits = open.back();
    open.pop_back();
    if (std::ranges::any_of(known, [&](const KnownRun& run) { return run.includes(limits); }))
      continue;
    limit(alone, pools, limits);
    const auto least = replayed(alone);
    if (!least || too_slow(least->makespan)) continue;
    limit(limited, pools, limits);
    const auto run = replayed(limited);
    if (!run) continue;
    if (run->makespan < best.seconds) best = {run->makespan, limits};
    if (best.seconds <= enough) break;
    if (too_slow(least->makespan)) continue;
    known.push_back({limits, {run->reserved[pools[0]], run->reserved[pools[1]]}});
    for (std::size_t p = 0; p < pools.size(); ++p) {
      Limits lower = limits;
      lower[p] = known.back().reserved[p] - 1;
      open.push_back(lower);
    }
  }
  return best;
}

}  // namespace sluice
