#include "planning/placement/placed_draft.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/number_list.hpp"
#include "placement/ways.hpp"
#include "planning/joined_replicas.hpp"
#include "planning/placement/placed_bound.hpp"
#include "planning/placement/placed_program.hpp"
#include "planning/placement/placement_gap.hpp"
#include "planning/placement/turns/judged_run.hpp"
#include "planning/placement/turns/shown_plans.hpp"
#include "planning/run_seconds.hpp"

namespace sluice {
namespace {

/// The number of tries in one search for a placement. There are many searches, one for each size of fast memory. So a
/// search does not use branch and bound, which would take longer.
constexpr std::size_t tries = 300;

/// The rounds after which the content of a hardware cache repeats: all rounds after the first are equal.
constexpr int two_rounds = 2;

/// A size of fast memory for which a placement is searched.
struct FastSize {
  std::int64_t bytes = 0;
  bool moves = false;  ///< whether placements with moves are also searched for this size
};

/// Returns the sizes of fast memory for which a placement is searched, in descending order. Each size is n/`count` of
/// the bytes that all tensors need, with n from 0 to `count`. Between the two smallest of these sizes, more sizes
/// follow, each a third smaller than the one before: so a small memory, too, is mostly used. In the same way, more
/// sizes lie between the two largest. Sizes above `room` are left out. With fewer kernels, a search is faster, so
/// `count` is greater. A search for placements with moves takes many times as long as a search without moves. So
/// `moves` is true for only some of the sizes. A device with more room gets all sizes of a device with less room, and
/// perhaps more. So a run never becomes slower with more room.
std::vector<FastSize> sizes_within(const PlacementQuestion& question, std::int64_t room) {
  constexpr std::int64_t smallest = 400;  // as a part of the bytes that are needed
  const auto shares = [&](std::int64_t kernels) {
    return std::clamp<std::int64_t>(kernels / question.kernel_count(), 16, 64);
  };
  const std::int64_t needed = question.peak(), count = shares(16'000), moved = shares(500);
  std::map<std::int64_t, bool, std::greater<>> all;  // for each size, whether moves are searched
  for (std::int64_t n = count; n >= 0; --n) {
    // This is needed * n / count, without the product needed * n, which could overflow.
    const std::int64_t bytes = needed / count * n + needed % count * n / count;
    all[bytes] |= n == 0 || n * moved / count != (n - 1) * moved / count;
  }
  bool moves = false;
  for (std::int64_t bytes = needed / count; bytes > needed / smallest; bytes -= bytes / 3 + 1) {
    all[bytes] |= moves;
    all[needed - bytes] |= moves;
    moves = !moves;
  }
  std::vector<FastSize> sizes;
  for (const auto& [bytes, with_moves] : all)
    if (bytes <= room) sizes.push_back({bytes, with_moves});
  return sizes;
}

/// Returns a text that is equal for equal schedules only.
std::string text_of(const PlacementSchedule& schedule) {
  NumberList numbers;
  for (const TensorPath& path : schedule.placing) {
    numbers.add(path.use);
    numbers.add(path.gap);
  }
  for (const PlacementMove& move : schedule.moves)
    numbers.add(move.tensor, move.to_fast, move.begin, move.needed, move.use);
  return numbers.text();
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
  PlacementChoice(const PlacementChoice&) = delete;

  /// Searches the placements of a problem. The first problem must allow the placements of all later problems.
  void consider(PlacedQuestion problem) {
    listed_.clear();
    problems_.push_back(std::move(problem));
    const PlacedQuestion& asked = problems_.back();
    const PlacedBound bound(asked, request_, common_, way_ == hardware_cache);
    bool only_moves = false;  // whether all placements without moves are too slow
    for (const FastSize& size : sizes_within(asked.question(), asked.room())) {
      if (bound.seconds() >= seconds_) return;
      if (only_moves && !size.moves) continue;
      needed_ = asked.memories().fast_capacity.value_or(asked.room()) - asked.room() + size.bytes;
      if (way_ == hardware_cache) {
        list_cached(asked, bound, size.bytes);
        continue;
      }
      const auto useless = [&](double round_s) {
        return bound.seconds_of_rounds(round_s) >= seconds_;
      };
      Placements found;
      try {
        found = placements(asked.question(), size, useless);
      } catch (const Infeasible&) {
        return;  // Slow memory has no room. With less fast memory, even more tensors would be there.
      }
      // The next line has two lower bounds of the run's seconds. They also hold with less fast memory. So if one of
      // them is not below the best time so far, no smaller size is searched.
      if (bound.seconds(found.round_s) >= seconds_ || useless(found.mean_s)) return;
      only_moves = only_moves || bound.seconds(found.static_s) >= seconds_;
      for (const PlacementSchedule& schedule : found.schedules) list(asked, bound, schedule);
      if (way_ == "all_slow") return;  // all_slow is the same for all sizes
    }
  }

  /// Returns the fastest run, or nothing if every run takes too long. Throws Infeasible if slow memory has no room for
  /// any.
  std::optional<Draft> best() {
    if (!best_ && std::isinf(seconds_)) refuse_slow();
    return std::move(best_);
  }

  /// Adds how far the seconds of the kernels of the fastest run are from their bound, in the whole fast memory of the
  /// device, whatever the size of fast memory was for which the placement was found.
  void say_gap(Plan& plan) const {
    add_placement_gap(plan, predicted_s_, std::min(predicted_s_, bound()), bounded());
  }

 private:
  /// The placements that a search found for one size of fast memory, and the bounds that it proved.
  struct Placements {
    std::vector<PlacementSchedule> schedules;
    /// A lower bound of the seconds of a round in the middle of a run, when copies of the previous round may still go
    /// on. The value 0 means that the bound is not known.
    double round_s = 0;
    double static_s = 0;  ///< the same as `round_s`, but only for placements without moves
    double mean_s = 0;    ///< a lower bound of the mean seconds of a round in a run, or 0
  };

  /// Returns the placements that the placement method `way_` finds. If the method searches, the placement of
  /// `first_touch` is also among them: with the largest size, it has all tensors in fast memory. If the method moves
  /// tensors, the best placement without moves is also among them. The search counts the seconds of kernels. So for
  /// each placement that it finds, there is another one with more tensors in fast memory and the same seconds of
  /// kernels.
  Placements placements(const PlacementQuestion& question, const FastSize& size,
                        const std::function<bool(double round_s)>& useless) const {
    const bool moves = moves_tensors(way_);
    if (way_ == "all_slow") return {{{all_slow(question), {}}}};
    const PlacementSchedule touched{first_touch(question, size.bytes), {}};
    if (way_ == "first_touch") return {{touched}};
    const auto more = [&](const Placing& placing) {
      return synchronous_schedule(question, filled_up({question, size.bytes}, placing));
    };
    OptimumRequest search{
        .question = question, .capacity = size.bytes, .moves = false, .tries = tries, .nodes = 0};
    const Optimum fixed = optimum(search);
    Placements found{{{fixed.placing, {}}, more(fixed.placing), touched}, fixed.bound, fixed.bound};
    if (!moves) return found;
    if (!size.moves) return {.schedules = std::move(found.schedules), .static_s = fixed.bound};
    search.moves = true;
    search.known = {fixed.placing};
    const Optimum moved = optimum(search);
    found.schedules.push_back(synchronous_schedule(question, moved.placing));
    found.schedules.push_back(more(moved.placing));
    found.round_s = moved.bound;
    if (way_ == "synchronous" || !question.problem().asynchronous) return found;
    search.known.push_back(moved.placing);
    search.useless = useless;
    OverlappedOptimum beside = overlapped_optimum(search);
    found.schedules.push_back(std::move(beside.schedule));
    if (beside.other) found.schedules.push_back(std::move(*beside.other));
    found.round_s = 0;
    found.mean_s = beside.round_bound;
    return found;
  }

  void list(const PlacedQuestion& asked, const PlacedBound& of_runs,
            const PlacementSchedule& schedule) {
    const PlacementQuestion& question = asked.question();
    if (!fits_slow(question, schedule.placing)) return;
    double round_s = 0;
    for (const double seconds : kernel_seconds(question, schedule.placing)) round_s += seconds;
    for (const PlacementMove& move : schedule.moves)
      if (move.synchronous()) round_s += move_seconds(question, move);
    if (of_runs.seconds(round_s) >= seconds_ || !listed_.insert(text_of(schedule)).second) return;
    if (!keep_fastest(list_placed({request_, common_, policy_, asked, schedule}))) return;
    predicted_s_ = predicted_seconds(question, schedule);
  }

  /// Returns a text that says what the bound holds for.
  const char* bounded() const {
    if (way_ == hardware_cache) return "a hardware cache with room for everything";
    if (way_ == "synchronous") return "all placements with synchronous moves or without moves";
    if (way_ == "asynchronous") return "all placements, with and without moves";
    return "all placements without moves";
  }

  /// Returns a bound of the placements without moves, and also of those with moves if the method moves tensors. A run
  /// may do without room for inputs and answers in transfer, so the bound has the whole fast memory. With a hardware
  /// cache, it is a cache that loses nothing, because every address has a place of its own. The bound is infinite if no
  /// placement fits.
  double bound() const {
    const PlacedQuestion& asked = problems_.front();
    const PlacementQuestion& question = asked.question();
    if (way_ == hardware_cache)
      return cached_run(question, std::numeric_limits<std::int64_t>::max(), two_rounds).seconds;
    const std::int64_t room = asked.memories().fast_capacity.value_or(question.peak());
    const OptimumRequest search{.question = question,
                                .capacity = std::min(room, question.peak()),
                                .moves = moves_tensors(way_),
                                .tries = 0,
                                .nodes = 0};
    const bool beside = way_ == "asynchronous" && question.problem().asynchronous;
    try {
      return beside ? overlapped_optimum(search).bound : optimum(search).bound;
    } catch (const Infeasible&) {
      return std::numeric_limits<double>::infinity();
    }
  }

  void list_cached(const PlacedQuestion& asked, const PlacedBound& of_runs, std::int64_t bytes) {
    const CachedRun cache = cached_run(asked.question(), bytes, two_rounds);
    if (of_runs.seconds(cache.seconds) >= seconds_) return;
    const PlacementSchedule schedule{all_slow(asked.question()), {}};
    if (keep_fastest(list_placed({request_, common_, policy_, asked, schedule, &cache, bytes})))
      predicted_s_ = cache.seconds;
  }

  /// Throws Infeasible: slow memory has no room for any placement that was tried.
  [[noreturn]] void refuse_slow() const {
    const PlacementQuestion& question = problems_.front().question();
    const std::string &fast = question.problem().fast, &slow = question.problem().slow;
    if (way_ != "static" && !moves_tensors(way_))
      check_slow_capacity(question, all_slow(question),
                          "the placement with all tensors in '" + slow + "'");
    const std::int64_t room = std::max<std::int64_t>(0, problems_.front().room());
    check_slow_capacity(question, filled_up({question, room}, all_slow(question)),
                        "a placement that fills '" + fast + "' first");
    throw Infeasible("no placement was found for which memory '" + slow +
                     "' has room: give it more bytes, or more to '" + fast + "'");
  }

  /// Returns the seconds of the draft's run. A load of an offloaded tensor may begin earlier with more fast memory, and
  /// then slow down other transfers. So with such loads, the draft becomes that of the fastest run within limits of the
  /// memories, and the result is infinite if this run takes too long. For one of several replicas that are judged
  /// together, the draft becomes that of the fastest run of all of them.
  double seconds_of(Draft& draft) const {
    if (!joined_replicas(request_) && !problems_.back().offloads())
      return run_seconds(finish(draft, request_));
    const std::vector<const Device*> devices = {&common_.device};
    const JudgedRun run = judged_run(finish(draft, request_), {request_, devices, seconds_});
    if (run.plan) draft = Draft(run.plan([](Plan&) {}));
    return run.seconds;
  }

  /// Returns whether the run is the best so far.
  bool keep_fastest(Draft draft) {
    draft.plan.facts.insert(draft.plan.facts.begin(), Fact("placement", way_));
    const double seconds = seconds_of(draft);
    // A run that does not fit into host memory takes infinitely many seconds. If no run fits, the first run is the
    // result. The execution of this run then reports what does not fit.
    const bool first = !best_ && std::isinf(seconds_);
    if (seconds >= seconds_ && !first) return false;
    best_ = std::move(draft);
    seconds_ = seconds;
    if (request_.shown_plans) request_.shown_plans->bytes_of_placement = needed_;
    return true;
  }

  const PolicyRequest& request_;
  const CommonParameters& common_;
  const std::string policy_, way_;
  std::optional<Draft> best_;
  std::list<PlacedQuestion> problems_;
  /// The schedules of the problem that have been simulated (text_of). Several sizes may lead to the same schedule.
  std::set<std::string> listed_;
  std::int64_t needed_ = 0;  ///< the fewest bytes of the device with which this size is searched
  double predicted_s_ = 0;   ///< the seconds of a round of the fastest run
  double seconds_;           ///< the seconds of the best run so far; only a faster run is useful
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

namespace {

/// Searches the placements of all problems of a run.
void consider_all(const PlacedRun& run, PlacementChoice& choice) {
  const auto asked = [&](PlacedQuestion::SlowOnlyKinds slow_only) {
    return PlacedQuestion(run.request, run.common, run.fates, run.policy, slow_only);
  };
  if (run.way == hardware_cache) {
    const FateChoice fates = fates_behind_cache(run.fates, run.request, run.common);
    choice.consider(PlacedQuestion(run.request, run.common, fates, run.policy,
                                   {.inputs = true, .answers = true}));
    return;
  }
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
      choice.consider(slow_only.inputs || weights ? asked(slow_only) : free);
    }
  }
}

}  // namespace

std::optional<PlacedDraft> placed_draft(const PlacedRun& run) {
  const auto choice = std::make_shared<PlacementChoice>(run);
  consider_all(run, *choice);
  std::optional<Draft> best = choice->best();
  if (!best) return std::nullopt;
  return PlacedDraft{*std::move(best), [choice](Plan& finished) { choice->say_gap(finished); }};
}

}  // namespace sluice
