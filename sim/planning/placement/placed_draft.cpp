#include "planning/placement/placed_draft.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "base/error.hpp"
#include "base/gap.hpp"
#include "placement/ways.hpp"
#include "planning/placement/moving.hpp"
#include "planning/placement/placed_bound.hpp"
#include "planning/placement/placed_listing.hpp"
#include "planning/run_seconds.hpp"

namespace sluice {
namespace {

/// The number of tries in one search for a placement. There are many searches, one for each size of fast memory. So a
/// search does not use branch and bound, which would take longer.
constexpr std::size_t tries = 300;

/// A size of fast memory for which a placement is searched.
struct FastSize {
  std::int64_t bytes = 0;
  bool moves = false;  ///< whether placements with moves are also searched for this size
};

/// Returns the sizes of fast memory for which a placement is searched. Each size is n/`count` of the bytes that all
/// tensors need, with n from 0 to `count`. Sizes above `room` are left out. With fewer kernels, a search is faster, so
/// `count` is greater. A search for placements with moves takes many times as long as a search without moves. So
/// `moves` is true for only some of the sizes. A device with more room gets all sizes of a device with less room, and
/// perhaps more. So a run never becomes slower with more room.
std::vector<FastSize> sizes_within(const PlacementQuestion& question, std::int64_t room) {
  const auto shares = [&](std::int64_t kernels) {
    return std::clamp<std::int64_t>(kernels / question.kernel_count(), 16, 64);
  };
  const std::int64_t needed = question.peak(), count = shares(16'000), moved = shares(500);
  std::vector<FastSize> sizes;
  for (std::int64_t n = count; n >= 0; --n) {
    // This is needed * n / count, without the product needed * n, which could overflow.
    const std::int64_t bytes = needed / count * n + needed % count * n / count;
    const bool moves = n == 0 || n * moved / count != (n - 1) * moved / count;
    if (bytes > room) continue;
    if (sizes.empty() || bytes < sizes.back().bytes)
      sizes.push_back({bytes, moves});
    else
      sizes.back().moves |= moves;
  }
  return sizes;
}

/// Finds the placement with the fastest run.
class PlacementChoice {
 public:
  explicit PlacementChoice(const PlacedRun& run)
      : request_(run.request),
        common_(run.common),
        policy_(run.policy),
        way_(run.way),
        seconds_(run.worth) {}

  void consider(const PlacedQuestion& asked) {
    unbounded_.reset();
    search(asked);
    if (unbounded_) add_gap(asked.question());
  }

  std::optional<Draft> best() { return std::move(best_); }

 private:
  void search(const PlacedQuestion& asked) {
    const PlacedBound bound(asked, request_, common_, way_ == hardware_cache);
    bool only_moves = false;  // whether all placements without moves are too slow
    for (const FastSize& size : sizes_within(asked.question(), asked.room())) {
      if (bound.seconds() >= seconds_) return;
      if (only_moves && !size.moves) continue;
      if (way_ == hardware_cache) {
        list_cached(asked, bound, size.bytes);
        continue;
      }
      const auto useless = [&](double round_s) {
        return bound.seconds_of_rounds(round_s) >= seconds_;
      };
      const Placements found = placements(asked.question(), size, useless);
      // The next line has two lower bounds of the run's seconds. They also hold with less fast memory. So if one of
      // them is not below the best time so far, no smaller size is searched.
      if (bound.seconds(found.round_s) >= seconds_ || useless(found.mean_s)) return;
      only_moves = only_moves || bound.seconds(found.static_s) >= seconds_;
      for (const PlacementSchedule& schedule : found.schedules)
        list(asked, bound,
             schedule.moves.empty() ? schedule
                                    : repeatable(asked, request_.pricing.platform, schedule),
             found.bound, size.bytes);
      if (way_ == "all_slow") return;  // all_slow is the same for all sizes
    }
  }

  /// The placements that a search found for one size of fast memory, and the bounds that it proved.
  struct Placements {
    std::vector<PlacementSchedule> schedules;
    /// Lower bounds of seconds: `bound` for a round that runs alone, `round_s` for a round in the middle of a run, when
    /// copies of the previous round may still go on. The value 0 means that the bound is not known.
    double bound = 0, round_s = 0;
    double static_s = 0;  ///< the same as `round_s`, but only for placements without moves
    double mean_s = 0;    ///< a lower bound of the mean seconds of a round in a run, or 0
  };

  /// Returns the placements that the placement method `way_` finds. If the method moves tensors, the best placement
  /// without moves is also among them.
  Placements placements(const PlacementQuestion& question, const FastSize& size,
                        const std::function<bool(double round_s)>& useless) const {
    const bool moves = moves_tensors(way_);
    if (way_ != "static" && !moves) {
      PlacementResult result = place_by_all(question, {size.bytes}, {way_}, 0).front();
      if (!result.refused.empty()) throw Infeasible(result.refused);
      return {{{std::move(result.schedule->placing), {}}}};
    }
    OptimumRequest search{
        .question = question, .capacity = size.bytes, .moves = false, .tries = tries, .nodes = 0};
    const Optimum fixed = optimum(search);
    Placements found{{{fixed.placing, {}}}, fixed.bound, fixed.bound, fixed.bound};
    if (!moves) return found;
    if (!size.moves) return {.schedules = std::move(found.schedules), .static_s = fixed.bound};
    search.moves = true;
    search.known = {fixed.placing};
    const Optimum moved = optimum(search);
    found.schedules.push_back(synchronous_schedule(question, moved.placing));
    found.bound = found.round_s = moved.bound;
    if (way_ == "synchronous" || !question.problem().asynchronous) return found;
    search.known.push_back(moved.placing);
    search.useless = useless;
    OverlappedOptimum beside = overlapped_optimum(search);
    found.schedules.push_back(std::move(beside.schedule));
    if (beside.other) found.schedules.push_back(std::move(*beside.other));
    found.bound = beside.bound;
    found.round_s = 0;
    found.mean_s = beside.round_bound;
    return found;
  }

  void list(const PlacedQuestion& asked, const PlacedBound& of_runs,
            const PlacementSchedule& schedule, double bound, std::int64_t bytes) {
    const PlacementQuestion& question = asked.question();
    double round_s = 0;
    for (const double seconds : kernel_seconds(question, schedule.placing)) round_s += seconds;
    for (const PlacementMove& move : schedule.moves)
      if (move.synchronous()) round_s += move_seconds(question, move);
    if (of_runs.seconds(round_s) >= seconds_) return;
    Draft draft = list_placed({request_, common_, policy_, asked, schedule});
    if (bound > 0)
      draft.plan.facts.emplace_back("placement_gap",
                                    gap_of(predicted_seconds(question, schedule), bound), "1");
    if (!keep_fastest(std::move(draft))) return;
    unbounded_.reset();
    if (bound <= 0 && moves_tensors(way_))
      unbounded_ = {bytes, predicted_seconds(question, schedule)};
  }

  /// Adds the gap of the best run if its placement comes from a search without moves. The bound of that search would
  /// not hold for placements with moves, so this function computes a bound that does. It also holds for the best run: a
  /// placement without moves is a schedule with an empty list of moves, which the programmes of both functions allow.
  /// In these programmes, it takes the seconds of its kernels, and no seconds of moves.
  void add_gap(const PlacementQuestion& question) {
    const OptimumRequest search{
        .question = question, .capacity = unbounded_->bytes, .tries = 0, .nodes = 0};
    const bool beside = way_ == "asynchronous" && question.problem().asynchronous;
    const double bound = beside ? overlapped_optimum(search).bound : optimum(search).bound;
    if (bound > 0)
      best_->plan.facts.emplace_back("placement_gap", gap_of(unbounded_->seconds, bound), "1");
  }

  void list_cached(const PlacedQuestion& asked, const PlacedBound& of_runs, std::int64_t bytes) {
    // The third argument is the number of rounds: two are enough, because all rounds after the first are equal.
    const CachedRun cache = cached_run(asked.question(), bytes, 2);
    if (of_runs.seconds(cache.seconds) >= seconds_) return;
    const PlacementSchedule schedule{all_slow(asked.question()), {}};
    keep_fastest(list_placed({request_, common_, policy_, asked, schedule, &cache, bytes}));
  }

  /// Returns whether the run is the best so far.
  bool keep_fastest(Draft draft) {
    draft.plan.facts.insert(draft.plan.facts.begin(), Fact("placement", way_));
    const double seconds = run_seconds(finish(draft, request_));
    // A run that does not fit into host memory takes infinitely many seconds. If no run fits, the first run is the
    // result. The execution of this run then reports what does not fit.
    const bool first = !best_ && std::isinf(seconds_);
    if (seconds >= seconds_ && !first) return false;
    best_ = std::move(draft);
    seconds_ = seconds;
    return true;
  }

  /// A size of fast memory, and the seconds of a round without moves in it.
  struct Unbounded {
    std::int64_t bytes = 0;
    double seconds = 0;
  };

  const PolicyRequest& request_;
  const CommonParameters& common_;
  const std::string &policy_, &way_;
  std::optional<Draft> best_;
  /// Given if a search without moves found the best run, and no bound is known for placements with moves.
  std::optional<Unbounded> unbounded_;
  double seconds_;  ///< the seconds of the best run so far; only a faster run is useful
};

}  // namespace

const std::vector<std::string>& placements_of_plans() {
  static const std::vector<std::string> ways = {"static",      "synchronous", "asynchronous",
                                                "first_touch", "all_slow",    hardware_cache};
  return ways;
}

const std::vector<std::string>& placements_compared() {
  static const std::vector<std::string> ways = {"static", "first_touch", "all_slow"};
  return ways;
}

bool moves_tensors(const std::string& way) {
  return way == "synchronous" || way == "asynchronous";
}

std::optional<Draft> placed_draft(const PlacedRun& run) {
  PlacementChoice choice(run);
  if (run.way == hardware_cache) {
    const FateChoice fates = fates_behind_cache(run.fates, run.request, run.common);
    choice.consider(PlacedQuestion(run.request, run.common, fates, run.policy,
                                   {.inputs = true, .answers = true}));
    return choice.best();
  }
  const auto asked = [&](PlacedQuestion::SlowOnlyKinds slow_only) {
    return PlacedQuestion(run.request, run.common, run.fates, run.policy, slow_only);
  };
  const PlacedQuestion free = asked({});
  // The search does not know how long a load takes, or that inputs and answers in transfer need room. In this room,
  // other tensors might save more time. So more problems are searched: one keeps inputs out of fast memory, and another
  // one keeps inputs and answers out. In a short run, the load of a weight may take longer than the weight saves in
  // fast memory, while another tensor, whose load costs nothing, would save nearly as much per round. So methods that
  // search also get these three problems with all weights out of fast memory.
  for (const bool weights : {false, true}) {
    if (weights && (!free.has_weights() || run.way == "first_touch" || run.way == "all_slow"))
      continue;
    for (const PlacedQuestion::SlowOnlyKinds slow_only :
         {PlacedQuestion::SlowOnlyKinds{.weights = weights},
          {.inputs = true, .weights = weights},
          {.inputs = true, .answers = true, .weights = weights}}) {
      if (slow_only.answers && !free.has_answers()) continue;
      if (slow_only.inputs && !slow_only.answers && !free.has_inputs()) continue;
      if (slow_only.inputs || weights)
        choice.consider(asked(slow_only));
      else
        choice.consider(free);
    }
  }
  return choice.best();
}

}  // namespace sluice
