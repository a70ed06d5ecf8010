#include "placement/optimum.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"

namespace sluice {
namespace {

constexpr double small_gap = 1e-9;
/// The price of a second of the copy engine in the search for schedules, in seconds of the run. A low price suffices,
/// because the search knows when the engine is free. The price leaves the engine to the moves that save most.
constexpr double price_of_engine = 0.03;

bool fits_fast(const PlacementQuestion& question, const Placing& placing, std::int64_t capacity) {
  return std::ranges::max(fast_bytes(question, placing)) <= capacity;
}

/// Returns whether both memories have room for the placement.
bool fits(const PlacementQuestion& question, const Placing& placing, std::int64_t capacity) {
  return fits_fast(question, placing, capacity) && fits_slow(question, placing);
}

/// A search for the best placement. It holds the best placement and the best bound so far. The best placement has the
/// least weighted sum of the seconds of kernels, fetches and saves.
class Search {
 public:
  Search(const OptimumRequest& request, PlacementWeights weights)
      : request_(request),
        question_(request.question),
        at_{request.question, request.capacity, request.moves, weights} {
    offer(all_slow(question_));
    offer(all_fast(question_));
    for (const Placing& placing : request.known) offer(placing);
  }

  /// Computes a bound, and placements. They come from the linear programme, or from prices of fast memory if the
  /// programme is too large.
  void relax() {
    if (!open()) return;
    std::optional<RelaxedProgramme> found;
    if (size() <= request_.largest_relaxed)
      found = relax_programme(at_, request_.relaxed_iterations);
    found ? by_programme(*found) : by_prices();
  }

  void branch() {
    if (!open() || placing_.empty() || size() > request_.largest_searched) return;
    const double share = static_cast<double>(request_.small) / static_cast<double>(size());
    if (share < 1 && near()) return;
    const double nodes = request_.nodes * std::min(1.0, share * share);
    if (nodes < 1) return;
    const ProgrammeAnswer answer =
        solve_programme(at_, seconds_ * (1 - small_gap / 10), static_cast<int>(nodes));
    bound_ = std::max(bound_, std::min(answer.bound, seconds_));
    const bool usable = !answer.placing || fits(question_, *answer.placing, request_.capacity);
    if (answer.placing) offer(*answer.placing);
    proven_ = answer.proven && usable;
  }

  /// Returns a schedule in which the copy engine moves tensors while kernels run. The search begins with `known`, or
  /// with a schedule that is made with the help of the prices of relax(). Searches with different numbers make
  /// different random choices.
  PlacementSchedule beside(const PlacementSchedule& known, std::uint64_t number) const {
    ImproveRequest at = at_;
    at.weights = {};
    at.engine = price_of_engine;
    at.seed += number;
    return improved_schedule(at, known, byte_prices_, request_.tries);
  }

  bool open() const { return placing_.empty() || seconds_ - bound_ > small_gap * seconds_; }
  bool near() const { return seconds_ - bound_ < request_.near_enough * seconds_; }
  bool proven() const { return proven_ || !open(); }
  double seconds() const { return seconds_; }
  double bound() const { return proven() ? seconds_ : std::min(bound_, seconds_); }
  const Placing& placing() const { return placing_; }

 private:
  /// Returns the seconds of a placement, even if slow memory has no room for it.
  double known() const {
    return placing_.empty() ? PlacementDraft(at_, all_slow(question_)).seconds() : seconds_;
  }

  std::size_t size() const { return programme_size(question_, request_.moves); }

  void by_programme(const RelaxedProgramme& found) {
    bound_ = std::max(bound_, found.bound);
    byte_prices_ = found.prices;
    std::vector<std::optional<TensorPath>> whole(question_.tensor_count());
    for (std::uint32_t t = 0; t < question_.tensor_count(); ++t)
      if (found.whole[t]) whole[t] = found.placing[t];
    offer(found.placing);
    offer(placing_from(at_, found.prices, whole));
    offer(placing_from(at_, found.prices));
    improve(found.prices, request_.tries);
  }

  void by_prices() {
    const std::size_t rounds = request_.rounds;
    for (std::size_t round = 0; round < rounds && open(); ++round) {
      if (round > 0 && near()) return;
      PlacementBound found = sluice::relax({.question = question_,
                                            .capacity = request_.capacity,
                                            .moves = request_.moves,
                                            .weights = at_.weights,
                                            .known = known(),
                                            .iterations = request_.iterations / rounds,
                                            .from = round > 0 ? &prices_ : nullptr});
      if (round == 0 || found.seconds > prices_.seconds) prices_ = std::move(found);
      bound_ = std::max(bound_, prices_.seconds);
      byte_prices_ = prices_.prices;
      offer(placing_from(at_, prices_.prices));
      improve(prices_.prices, request_.tries / rounds);
    }
  }

  void improve(const std::vector<double>& prices, std::size_t tries) {
    if (open() && !placing_.empty()) offer(improved(at_, placing_, prices, tries, bound_));
  }

  /// If a placement puts too much into slow memory, as much of it as possible is put into fast memory.
  void offer(Placing placing) {
    if (!fits_fast(question_, placing, request_.capacity)) return;
    if (!fits_slow(question_, placing)) placing = filled_up(at_, std::move(placing));
    if (!fits_slow(question_, placing)) return;
    const double seconds = PlacementDraft(at_, placing).seconds();
    if (seconds >= seconds_) return;
    seconds_ = seconds;
    placing_ = std::move(placing);
  }

  const OptimumRequest& request_;
  const PlacementQuestion& question_;
  ImproveRequest at_;
  Placing placing_;
  PlacementBound prices_;
  std::vector<double>
      byte_prices_;  ///< the prices of a byte during each kernel; empty before relax()
  double seconds_ = std::numeric_limits<double>::infinity();
  double bound_ = 0;
  bool proven_ = false;
};

/// Returns the weights with which a search computes a lower bound of the seconds of a run. A run takes at least as long
/// as its kernels and its synchronous moves together. It also takes at least as long as all moves of the copy engine.
/// So a weighted mean of these two times is a lower bound, too. The weights are 1 - share and share. Each move adds its
/// seconds to one of the two times. It is not known to which. So the mean counts the smaller of two products: (1 -
/// share) x the seconds of the synchronous move, and share x the seconds of the copy engine's move.
PlacementWeights weights_of(const PlacementQuestion& question, double share) {
  PlacementWeights weights{1 - share, 1 - share, 1 - share};
  const auto& engine = question.problem().asynchronous;
  const auto part = [&](double engine_s, double synchronous_s) {
    return synchronous_s > 0 ? share * engine_s / synchronous_s : 1;
  };
  for (std::uint32_t t = 0; engine && t < question.tensor_count(); ++t) {
    weights.fetch =
        std::min(weights.fetch, part(question.fetch_s(t, *engine), question.fetch_s(t)));
    weights.save = std::min(weights.save, part(question.save_s(t, *engine), question.save_s(t)));
  }
  return weights;
}

/// Throws Infeasible: no placement was found for which slow memory has room.
[[noreturn]] void refuse_slow(const OptimumRequest& request) {
  const PlacementQuestion& question = request.question;
  const Placing filled = filled_up({question, request.capacity}, all_slow(question));
  check_slow_capacity(
      question, filled,
      "a placement that fills '" + question.problem().fast + "' first");
  throw InternalError("slow memory has room for a placement that was not offered");
}

}  // namespace

Optimum optimum(const OptimumRequest& request) {
  check_capacity(request.question, all_slow(request.question), request.capacity,
                 "the placement with only pinned tensors in fast memory");
  Search search(request, {});
  search.relax();
  search.branch();
  if (search.placing().empty()) refuse_slow(request);
  const double seconds =
      predicted_seconds(request.question, synchronous_schedule(request.question, search.placing()));
  return {search.placing(), seconds, std::min(seconds, search.bound()), search.proven()};
}

OverlappedOptimum overlapped_optimum(const OptimumRequest& request) {
  const PlacementQuestion& question = request.question;
  check_capacity(question, all_slow(question), request.capacity,
                 "the placement with only pinned "
                 "tensors in fast memory");
  OverlappedOptimum best;
  best.seconds = std::numeric_limits<double>::infinity();
  bool same = true;  // whether both schedules of `best` are the same
  const auto keep = [&](PlacementSchedule schedule, bool is_other) {
    if (!fits_slow(question, schedule.placing)) return;
    const double seconds = predicted_seconds(question, schedule);
    if (seconds >= best.seconds) return;
    best.schedule = std::move(schedule);
    best.seconds = seconds;
    same = is_other;
  };
  double other_s = best.seconds;
  const auto offer = [&](const Placing& placing) {
    if (!fits(question, placing, request.capacity)) return;
    PlacementSchedule schedule = overlapped(question, request.capacity, placing);
    const double seconds = predicted_seconds(question, schedule);
    if (seconds >= other_s) return;
    other_s = seconds;
    best.other = schedule;
    keep(std::move(schedule), /*is_other=*/true);
  };
  offer(all_slow(question));
  PlacementSchedule own = best.schedule;
  for (const Placing& placing : request.known) offer(placing);
  if (!best.other) offer(optimum(request).placing);
  if (own.placing.empty()) own = *best.other;
  const auto& engine = question.problem().asynchronous;
  std::uint64_t searched = 0;
  for (const double share : {0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7}) {
    if (!engine && share > 0) break;
    OptimumRequest part = request;
    part.rounds = 1;
    part.iterations /= 6;
    part.tries /= 8;
    part.largest_relaxed /= 4;  // the loop solves the programme up to eight times
    part.known.push_back(best.other->placing);
    Search search(part, weights_of(question, share));
    search.relax();
    best.bound = std::max(best.bound, search.bound());
    // A round takes at least as long as its kernels and synchronous moves together, as the engine's moves to fast
    // memory, and as the engine's moves to slow memory. So it takes at least the weighted mean of these three
    // times. The weights are 1 - share, share and share, and their sum is 1 + share.
    best.round_bound = std::max(best.round_bound, search.bound() / (1 + share));
    if (request.useless && request.useless(best.round_bound)) break;
    offer(search.placing());
    // A schedule that was known before may lead the search to a worse end. So the search also begins without it.
    if (engine && !request.known.empty())
      keep(own = search.beside(own, searched), /*is_other=*/false);
    if (engine) keep(search.beside(best.schedule, searched++), /*is_other=*/false);
    if (best.seconds - best.bound <= small_gap * best.seconds) break;
  }
  best.bound = std::min(best.bound, best.seconds);
  if (same) best.other.reset();
  return best;
}

}  // namespace sluice
