#include "planning/placement/turns/limited_runs.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/never.hpp"
#include "base/quantity.hpp"
#include "execute/arithmetic/least_rest.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"
#include "plan/passes/one_stream.hpp"
#include "plan/structure.hpp"
#include "planning/copy_time.hpp"
#include "planning/placement/turns/limit_list.hpp"
#include "planning/run_seconds.hpp"

namespace sluice {
namespace {

using Limits = LimitedRun::Limits;
using Pools = std::vector<std::uint32_t>;

/// If the actions of a round, times the number of memories, are at most this number, runs are simulated quickly, and
/// there are few of them. So they are compared within many limits.
constexpr std::size_t quick_round = 200;

/// Returns whether a run within smaller limits may be faster. This is so if flows of different streams cross the same
/// link, and also if devices share a pool, or if host memory may be full: such a memory grants requests in the order in
/// which they are made.
bool limits_may_help(const Plan& plan, const Pools& pools) {
  if (std::ranges::any_of(pools, [&](std::uint32_t pool) { return plan.pools[pool].shared(); }))
    return true;
  if (host_may_be_full(plan)) return true;
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

/// Runs of one plan. `limits` and `reserved` are bytes in the pools. The plan has this run within all limits between
/// the two: smaller limits down to `reserved` do not change it. If the replay ended early, they do not change the run
/// until then, so it takes too long within all these limits.
struct KnownRun {
  Limits limits, reserved;
  bool includes(const Limits& other) const {
    for (std::size_t p = 0; p < other.size(); ++p)
      if (other[p] < reserved[p] || other[p] > limits[p]) return false;
    return true;
  }
};

/// Replays a plan within several limits of these pools. The capacities of the pools do not matter.
class Replays {
 public:
  enum class Checked : bool { no, yes };

  /// Throws InputError if the plan is wrong. A plan that was checked is not.
  Replays(Plan plan, const Pools& pools, Checked checked = Checked::no)
      : plan_(limited(std::move(plan), pools)),
        pools_(pools),
        tables_(checked == Checked::yes ? PlanTables(plan_) : checked_tables(plan_)) {
    if (checked == Checked::no) check_totals(plan_);
    if (plan_.iterations <= few_iterations) rest_.emplace(tables_);
  }
  Replays(const Replays&) = delete;

  /// If the plan does not fit, the seconds of the result are infinite. Its `reserved` is empty if the plan does not fit
  /// within any smaller limits either. The replay may end early if the run takes `worth` seconds or more.
  ReplayResult run(const Limits& limits, double worth) try {
    for (std::size_t p = 0; p < pools_.size(); ++p) plan_.pools[pools_[p]].limit = limits[p];
    check_memory(tables_);
    std::optional<ReplayWorth> to_beat;
    if (rest_) to_beat.emplace(worth, *rest_);
    ReplayResult result = replay(tables_, ReplayOptions{.worth = to_beat ? &*to_beat : nullptr});
    if (result.blocking) result.makespan = never;
    return result;
  } catch (const Infeasible&) {
    return {.makespan = never};
  }

  const Plan& plan() const { return plan_; }
  /// Returns a lower bound of the seconds of the run within any limits.
  double at_least() const { return rest_ ? rest_->all_seconds() * within_accuracy : 0; }

 private:
  static Plan limited(Plan plan, const Pools& pools) {
    for (const std::uint32_t pool : pools) {
      plan.pools[pool].enforced = false;
      plan.pools[pool].limit = LimitedRun::none;
    }
    return plan;
  }

  Plan plan_;
  const Pools& pools_;
  PlanTables tables_;  ///< refers to `plan_`
  std::optional<LeastRest> rest_;
};

/// Compares the runs of a plan within limits of these pools.
class LimitedRuns {
 public:
  LimitedRuns(const Plan& plan, const Pools& pools, const RunsWanted& wanted)
      : pools_(pools),
        wanted_(wanted),
        limited_(plan, pools),
        capacities_(capacities_of(plan, pools)) {
    for (const std::uint32_t number : pools) {
      const Pool& pool = plan.pools[number];
      shared_.push_back(pool.shared());
      limited_by_plan_.push_back(pool.limit && pool.most() == *pool.limit);
    }
    requests_compete_ = std::ranges::count(shared_, true) > 0 || host_may_be_full(plan);
    const bool quick = (plan.body_end - plan.body_begin) * pools.size() <= quick_round;
    list_ = quick || wanted.many ? LimitList::many : LimitList::few;
    best_.limits = none_;
  }

  LimitedRun fastest() {
    best_.at_least = limited_.at_least();
    if (too_slow(best_.at_least)) return best_;
    undisturbed_.emplace(undisturbed(limited_.plan()), pools_, Replays::Checked::yes);
    const ReplayResult alone = undisturbed_->run(of_owners(capacities_), to_beat());
    const double least = alone.makespan;
    best_.at_least = std::max(best_.at_least, least * within_accuracy);
    if (too_slow(least)) return best_;
    if (plan_has_limits(alone)) try_within(capacities_);
    if (!requests_compete_) try_in_turn();
    try_listed();
    if (may_be_least_) try_least();
    return best_;
  }

  /// Returns the bytes that the plan may use in each of these pools.
  static Limits capacities_of(const Plan& plan, const Pools& pools) {
    Limits bytes;
    for (const std::uint32_t pool : pools)
      bytes.push_back(plan.pools[pool].limited() ? plan.pools[pool].most() : LimitedRun::none);
    return bytes;
  }

 private:
  /// Tries the plan with transfers that never share links. No limit makes this plan faster. If waits and the order of
  /// the stream form a cycle, its run blocks.
  void try_in_turn() {
    if (!wanted_.in_turn) return;
    Plan plan = limited_.plan();
    if (!use_one_stream(plan)) return;
    Replays in_turn(std::move(plan), pools_, Replays::Checked::yes);
    const double seconds = in_turn.run(capacities_, to_beat()).makespan;
    if (!(seconds < worth())) return;
    best_.seconds = seconds;
    best_.in_turn = true;
  }

  /// Tries the limits of the list that fit, the greatest first. All first memories have the same limit, and so have all
  /// other memories. Most limits lead to a run that is known, or that takes too long.
  void try_listed() {
    using Pair = std::array<std::int64_t, 2>;
    Pair most = {LimitedRun::none, LimitedRun::none};
    for (std::size_t p = 0; p < pools_.size(); ++p)
      most[group(p)] = std::min(most[group(p)], listed_limit(capacities_[p], list_));
    std::vector<Pair> open = {most};
    while (!open.empty() && best_.seconds > wanted_.enough) {
      const Pair both = open.back();
      open.pop_back();
      Limits limits;
      for (std::size_t p = 0; p < pools_.size(); ++p) limits.push_back(both[group(p)]);
      if (!try_within(limits)) continue;
      Pair used = {0, 0};
      for (std::size_t p = 0; p < pools_.size(); ++p)
        used[group(p)] = std::max(used[group(p)], known_.back().reserved[p]);
      for (const std::size_t g : {0, 1}) {
        open.push_back(both);
        open.back()[g] = listed_limit(used[g] - 1, list_);
      }
    }
  }

  /// Tries the least limits within which the plan runs: the least limit of one pool, then the least limit of the next
  /// pool that is possible together with it. So what fits is not refused. If the devices are alike, all first memories
  /// have the same limit, and so have all other memories.
  void try_least() {
    std::vector<Pools> sets;  // indices of pools_
    for (std::uint32_t p = 0; p < pools_.size(); ++p)
      if (sets.empty() || !wanted_.alike || group(p) != group(p - 1))
        sets.push_back({p});
      else
        sets.back().push_back(p);
    for (const bool forwards : {true, false}) {
      Limits limits = none_;
      for (std::size_t n = 0; n < sets.size(); ++n)
        if (!make_least(limits, sets[forwards ? n : sets.size() - 1 - n])) break;
      if (below(limits, capacities_)) try_within(limits);
    }
  }

  /// Makes the limit of these pools the least one within which the plan runs. Returns false if it does not fit.
  bool make_least(Limits& limits, const Pools& set) {
    std::int64_t least = LimitedRun::none, tried = least, capacity = least;
    for (const std::uint32_t p : set) capacity = std::min(capacity, capacities_[p]);
    for (std::int64_t too_few = -1; least - too_few > 1;) {
      if (too_few >= capacity) return false;
      for (const std::uint32_t p : set) limits[p] = tried;
      const ReplayResult run = limited_.run(limits, never);
      if (run.makespan < never) {
        least = 0;
        for (const std::uint32_t p : set) least = std::max(least, run.reserved[pools_[p]]);
      } else {
        too_few = tried;
      }
      tried = std::midpoint(too_few, least);
    }
    for (const std::uint32_t p : set) limits[p] = least;
    return true;
  }

  /// Simulates the run within these limits. If smaller limits may lead to a faster run, adds the run to `known_` and
  /// returns true. In the undisturbed plan, smaller limits do not make a run faster. So if its run takes too long, no
  /// smaller limits are tried.
  bool try_within(const Limits& limits) {
    const auto includes = [&](const KnownRun& run) { return run.includes(limits); };
    const auto slower = [&](const Limits& slow) { return below(limits, slow); };
    if (std::ranges::any_of(known_, includes) || std::ranges::any_of(slow_, slower)) return false;
    const double least =
        limits == capacities_ ? 0 : undisturbed_->run(of_owners(limits), to_beat()).makespan;
    if (least < never && too_slow(least)) {
      slow_.push_back(limits);
      return false;
    }
    const ReplayResult run =
        least < never ? limited_.run(limits, to_beat()) : ReplayResult{.makespan = never};
    // If requests compete, a plan may block within some limits, and not within smaller ones.
    const bool blocks = run.makespan == never;
    may_be_least_ = may_be_least_ || blocks;
    if (blocks && (run.reserved.empty() || !requests_compete_)) return false;
    if (run.makespan < worth()) {
      best_.seconds = run.makespan;
      best_.limits = limits;
      best_.in_turn = false;
    }
    known_.push_back({limits, {}});
    for (const std::uint32_t pool : pools_) known_.back().reserved.push_back(run.reserved[pool]);
    return true;
  }

  /// Returns whether the plan has limits of its own in all pools that it uses, and they fit. Then the run within these
  /// limits does not depend on the capacities.
  bool plan_has_limits(const ReplayResult& alone) const {
    for (std::size_t p = 0; p < pools_.size(); ++p) {
      const bool used = alone.reserved.empty() || alone.reserved[pools_[p]] > 0;
      if (used && (!limited_by_plan_[p] || shared_[p])) return false;
    }
    return true;
  }

  std::size_t group(std::size_t p) const { return p < wanted_.firsts ? 0 : 1; }

  /// Returns the limits without those of shared pools.
  Limits of_owners(Limits limits) const {
    for (std::size_t p = 0; p < pools_.size(); ++p)
      if (shared_[p]) limits[p] = LimitedRun::none;
    return limits;
  }
  static bool below(const Limits& limits, const Limits& others) {
    return std::ranges::equal(limits, others, std::less_equal());
  }

  double worth() const { return std::min(wanted_.worth, best_.seconds); }
  /// A run that ends early takes at least so many seconds. Seconds are only exact up to rounding.
  double to_beat() const { return worth() * (1 + 1e-9); }
  bool too_slow(double seconds) const { return seconds >= worth() * (1 - 1e-12); }

  const Pools& pools_;
  const RunsWanted& wanted_;
  Replays limited_;
  std::optional<Replays> undisturbed_;
  Limits capacities_;
  Limits none_ = Limits(pools_.size(), LimitedRun::none);
  std::vector<bool> shared_;  ///< for each of the pools, whether several devices share it
  /// Whether a memory may have no room for requests of several streams, and grants them in the order in which they are
  /// made.
  bool requests_compete_ = false;
  std::vector<bool>
      limited_by_plan_;  ///< for each of the pools, whether the plan has a limit for it, and it fits
  LimitList list_ = LimitList::few;
  std::vector<KnownRun> known_;
  std::vector<Limits>
      slow_;  ///< within these limits, and within smaller ones, all runs take too long
  bool may_be_least_ = false;  ///< whether the plan may run within limits between those of the list
  LimitedRun best_;
};

}  // namespace

LimitedRun fastest_within(const Plan& plan, const Pools& pools, const RunsWanted& wanted) {
  if (limits_may_help(plan, pools)) return LimitedRuns(plan, pools, wanted).fastest();
  LimitedRun only{.limits = Limits(pools.size(), LimitedRun::none)};
  only.seconds = Replays(plan, pools).run(LimitedRuns::capacities_of(plan, pools), never).makespan;
  only.at_least = only.seconds * within_accuracy;
  return only;
}

std::string keep_within(const LimitedRun& run, Plan& plan,
                        const std::vector<std::uint32_t>& pools) {
  std::string text;
  if (run.in_turn) {
    use_one_stream(plan);
    text = "; transfers that share links go in turn";
  }
  for (std::size_t p = 0; p < pools.size(); ++p) {
    if (run.limits[p] == LimitedRun::none) continue;
    plan.pools[pools[p]].limit = run.limits[p];
    text += "; stays within " + format_bytes(run.limits[p]) + " of " + plan.pools[pools[p]].name;
  }
  return text;
}

}  // namespace sluice
