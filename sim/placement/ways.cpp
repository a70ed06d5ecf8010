#include "placement/ways.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <span>

#include "base/error.hpp"
#include "base/gap.hpp"
#include "base/suggest.hpp"
#include "placement/listing.hpp"

namespace sluice {
namespace {

using Begins = PlacementProblem::Begins;
using Pinned = PlacementProblem::Pinned;

PlacementResult judged(const WayRequest& request, PlacementSchedule schedule) {
  PlacementResult result;
  result.predicted_s = predicted_seconds(request.question, schedule);
  result.simulated_s = simulated_seconds(request.question, schedule, request.capacity);
  result.schedule = std::move(schedule);
  return result;
}

PlacementResult of_placing(const WayRequest& request, Placing placing, const std::string& what) {
  check_capacity(request.question, placing, request.capacity, what);
  check_slow_capacity(request.question, placing, what);
  return judged(request, synchronous_schedule(request.question, std::move(placing)));
}

PlacementResult place_all_fast(const WayRequest& request) {
  return of_placing(request, all_fast(request.question), "the placement all_fast");
}

PlacementResult place_all_slow(const WayRequest& request) {
  return of_placing(request, all_slow(request.question), "the placement all_slow");
}

PlacementResult place_first_touch(const WayRequest& request) {
  return of_placing(request, first_touch(request.question, request.capacity),
                    "the placement first_touch");
}

PlacementResult place_cached(const WayRequest& request) {
  check_slow_capacity(request.question, all_slow(request.question), "the placement cached");
  PlacementResult result;
  result.cached = cached_run(request.question, request.capacity);
  result.predicted_s = result.cached->seconds;
  return result;
}

/// Returns the request for a search that begins from the placements in `request.lesser`. If `moves`
/// is false, only the placements without moves are used.
OptimumRequest search_from(const WayRequest& request, bool moves) {
  OptimumRequest search{.question = request.question, .capacity = request.capacity};
  search.moves = moves;
  search.nodes = request.nodes;
  for (const PlacementResult* lesser : request.lesser)
    if (lesser->schedule && (moves || is_static(request.question, lesser->schedule->placing)))
      search.known.push_back(lesser->schedule->placing);
  return search;
}

PlacementResult place_optimum(const WayRequest& request, bool moves) {
  const Optimum found = optimum(search_from(request, moves));
  PlacementResult result = judged(request, synchronous_schedule(request.question, found.placing));
  result.bound_s = found.proven ? result.simulated_s : found.bound;
  return result;
}

PlacementResult place_static(const WayRequest& request) {
  return place_optimum(request, /*moves=*/false);
}
PlacementResult place_synchronous(const WayRequest& request) {
  return place_optimum(request, /*moves=*/true);
}

PlacementResult place_asynchronous(const WayRequest& request) {
  if (!request.question.problem().asynchronous)
    throw Infeasible("no copy engine moves tensors between '" + request.question.problem().fast +
                     "' and '" + request.question.problem().slow + "' while kernels run");
  OverlappedOptimum found = overlapped_optimum(search_from(request, /*moves=*/true));
  const double bound = found.bound;
  PlacementResult result = judged(request, std::move(found.schedule));
  if (found.other) {
    PlacementResult other = judged(request, std::move(*found.other));
    if (other.simulated_s < result.simulated_s) result = std::move(other);
  }
  result.bound_s = bound;
  return result;
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool asked(const std::vector<std::string>& ways, const std::string& way) {
  return ways.empty() || std::find(ways.begin(), ways.end(), way) != ways.end();
}

/// Replaces the method's result by the fastest result in `lesser` that the method may use, if that
/// result is faster. `moves` says whether the method may use moves, and `beside` whether the copy
/// engine may move tensors while kernels run.
void keep_least(PlacementResult& result, const PlacementQuestion& question,
                const std::vector<const PlacementResult*>& lesser, bool moves, bool beside) {
  for (const PlacementResult* other : lesser) {
    if (!other->schedule || other->simulated_s >= result.simulated_s) continue;
    if (!moves && !is_static(question, other->schedule->placing)) continue;
    if (!beside && other->way == "asynchronous") continue;
    result.schedule = other->schedule;
    result.predicted_s = other->predicted_s;
    result.simulated_s = other->simulated_s;
  }
  if (result.bound_s) result.bound_s = std::min(*result.bound_s, result.simulated_s);
}

/// Returns a lower bound of the seconds of all placements without moves, or nothing if slow memory has no room for any.
std::optional<double> bound_without_moves(const PlacementQuestion& question,
                                          std::int64_t capacity) {
  OptimumRequest search{.question = question, .capacity = capacity};
  search.moves = false;
  search.tries = 0;
  search.nodes = 0;
  try {
    return optimum(search).bound;
  } catch (const Infeasible&) {
    return std::nullopt;
  }
}

/// Gives a bound to the results of those methods that do not search. All results are for the same size of fast memory.
void add_bounds(const PlacementQuestion& question, std::span<PlacementResult> results) {
  std::optional<double> fixed;
  for (const PlacementResult& result : results)
    if (result.way == "static") fixed = result.bound_s;
  for (PlacementResult& result : results) {
    if (result.bound_s || !result.refused.empty()) continue;
    if (!result.cached && !fixed) fixed = bound_without_moves(question, result.capacity);
    result.bound_s = result.cached
                         ? cached_run(question, std::numeric_limits<std::int64_t>::max()).seconds
                         : fixed;
    if (result.bound_s) result.bound_s = std::min(*result.bound_s, result.seconds());
  }
}

}  // namespace

Placing first_touch(const PlacementQuestion& question, std::int64_t capacity) {
  Placing placing = all_slow(question);
  // For each kernel, how many bytes in fast memory are freed before the kernel.
  std::vector<std::int64_t> ends(question.kernel_count() + 1, 0);
  std::int64_t level = 0;
  const auto touch = [&](std::uint32_t t) {
    const std::int64_t bytes = question.tensor(t).bytes;
    const Pinned pinned = question.tensor(t).pinned;
    if (pinned == Pinned::slow) return;
    if (pinned == Pinned::no && level + bytes > capacity) return;
    level += bytes;
    ends[question.live(t).last] += bytes;
    placing[t] = constant_path(question, t, /*fast=*/true);
  };
  for (std::uint32_t k = 0; k < question.kernel_count(); ++k) {
    level -= ends[k];
    if (k == 0)
      for (std::uint32_t t = 0; t < question.tensor_count(); ++t)
        if (question.has_gap(t, 0)) touch(t);
    for (const auto& operand : question.problem().kernels[k].operands)
      if (!question.has_gap(operand.tensor, 0) && question.live(operand.tensor).first == k)
        touch(operand.tensor);
  }
  return placing;
}

std::optional<double> PlacementResult::gap() const {
  if (!bound_s || !refused.empty()) return {};
  return gap_of(seconds(), *bound_s);
}

PlacementResult::MoveTotals PlacementResult::move_totals(const PlacementQuestion& question) const {
  MoveTotals moved;
  if (!schedule) return moved;
  for (const PlacementMove& move : schedule->moves) {
    const std::int64_t bytes = question.tensor(move.tensor).bytes;
    (move.to_fast ? moved.to_fast : moved.to_slow) += 1;
    (move.to_fast ? moved.to_fast_bytes : moved.to_slow_bytes) += bytes;
    if (move.synchronous()) continue;
    moved.beside += 1;
    moved.beside_bytes += bytes;
  }
  return moved;
}

const std::vector<PlacementWay>& placement_ways() {
  static const std::vector<PlacementWay> ways = {
      {"all_fast",
       "all tensors are in fast memory; refused if fast memory is too "
       "small",
       place_all_fast},
      {"all_slow", "all tensors are in slow memory", place_all_slow},
      {"first_touch",
       "a tensor is in fast memory for its whole life if there is room for it when it is made",
       place_first_touch},
      {"cached", "fast memory is a direct-mapped hardware cache of slow memory", place_cached},
      {"static",
       "each tensor is in one memory during its whole life; a search chooses the memories of all "
       "tensors together",
       place_static, /*searched=*/true},
      {"synchronous", "tensors are moved between kernels, while no kernel runs", place_synchronous,
       /*searched=*/true},
      {"asynchronous", "a copy engine also moves tensors while kernels run", place_asynchronous,
       /*searched=*/true},
  };
  return ways;
}

std::vector<PlacementResult> place_by_all(const PlacementQuestion& question,
                                          std::vector<std::int64_t> capacities,
                                          const std::vector<std::string>& ways, int nodes,
                                          const PlacementProgress& progress) {
  std::vector<std::string> names;
  for (const PlacementWay& way : placement_ways()) names.push_back(way.name);
  for (const std::string& way : ways)
    if (!asked(names, way))
      throw InputError("no way to place tensors is called '" + way + "'" +
                       did_you_mean(way, names) + ": expected " + join(names));
  std::sort(capacities.begin(), capacities.end());
  std::vector<PlacementResult> results;
  results.reserve(capacities.size() * placement_ways().size());
  const std::size_t total = capacities.size() * (ways.empty() ? names.size() : ways.size());
  for (const std::int64_t capacity : capacities) {
    const std::size_t first = results.size();
    for (const PlacementWay& way : placement_ways()) {
      if (!asked(ways, way.name)) continue;
      if (progress) progress(results.size(), total);
      WayRequest request{.question = question, .capacity = capacity, .nodes = nodes};
      for (const PlacementResult& lesser : results) request.lesser.push_back(&lesser);
      const double from = now();
      PlacementResult result;
      try {
        result = way.place(request);
        if (way.searched)
          keep_least(result, request.question, request.lesser, way.name != "static",
                     way.name == "asynchronous");
      } catch (const Infeasible& error) {
        result.refused = error.headline();
      }
      result.way = way.name;
      result.capacity = capacity;
      result.oracle_s = now() - from;
      results.push_back(std::move(result));
    }
    add_bounds(question, std::span(results).subspan(first));
  }
  if (progress) progress(results.size(), results.size());
  return results;
}

std::vector<TensorWorth> worth_of(const PlacementQuestion& question, const Placing& placing) {
  const double seconds = synchronous_seconds(question, placing);
  std::vector<TensorWorth> worth;
  Placing other = placing;
  for (std::uint32_t t = 0; t < question.tensor_count(); ++t) {
    const bool fast = placing[t].use.front() != 0;
    other[t] = constant_path(question, t, !fast);
    const double changed = synchronous_seconds(question, other);
    worth.push_back({t, fast, fast ? changed - seconds : seconds - changed});
    other[t] = placing[t];
  }
  std::stable_sort(worth.begin(), worth.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return worth;
}

}  // namespace sluice
