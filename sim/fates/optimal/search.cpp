#include "fates/optimal/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "base/interrupt.hpp"
#include "fates/optimal/bound.hpp"
#include "fates/optimal/branches_in_turn.hpp"
#include "fates/optimal/joint.hpp"
#include "fates/optimal/memory_views.hpp"
#include "fates/optimal/rounding.hpp"
#include "fates/tape_time.hpp"

namespace sluice {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Returns the rungs (search.hpp): budgets from `least` to 1.5 x `most`. `most` is the bytes of the tape that keeps
/// all tensors. Budgets above `most` have room for early loads.
std::vector<std::int64_t> rungs_between(std::int64_t least, std::int64_t most, std::size_t count) {
  std::vector<std::int64_t> rungs = {least};
  const double top = 1.5 * static_cast<double>(std::max(most, least));
  const double ratio = std::pow(top / static_cast<double>(std::max<std::int64_t>(least, 1)),
                                1.0 / static_cast<double>(count - 1));
  for (std::size_t k = 1; k < count; ++k) {
    const auto rung = static_cast<std::int64_t>(static_cast<double>(least) *
                                                std::pow(ratio, static_cast<double>(k)));
    if (rung > rungs.back()) rungs.push_back(rung);
  }
  return rungs;
}

std::vector<std::uint32_t> key_of(const Tape& tape) {
  std::vector<std::uint32_t> key;
  key.reserve(tape.size());
  for (const TapeOp& op : tape)
    key.push_back((op.number << 3) | (static_cast<std::uint32_t>(op.kind) << 1) |
                  (op.inner ? 1u : 0u));
  return key;
}

}  // namespace

FateSearch::FateSearch(const Chain& chain, FateScore score, const FateRun& run, bool one_of_several)
    : chain_(chain),
      score_(std::move(score)),
      run_(run),
      one_of_several_(one_of_several),
      looked_at_as_(std::max<std::size_t>(chain.stages.size(), one_of_several ? 41 : 0)),
      alike_(alike_tapes(chain)) {
  for (Tape& tape : tapes_again(chain)) alike_.push_back(std::move(tape));
}

namespace {

/// Returns one number for each frontier of the search. The seconds of copies are multiplied by this number. The number
/// 1 stands for a run in which all operations take turns.
std::vector<double> copy_prices(std::size_t stages) {
  if (stages <= 20) return {1, 0.6, 0.3, 0.1, 0};
  if (stages <= 100) return {1, 0.3, 0};
  return {0.3};
}

/// A candidate is a tape with the bytes of memory that its run may use. So several candidates may have the same tape
/// and different bytes. Returns whether only the one with the most bytes is replayed. With fewer bytes, the loads come
/// later, and the run could be faster only by chance.
bool one_room_a_tape(std::size_t stages) {
  return stages > 100;
}

/// Returns the settings of the frontiers. For a longer chain, segments may split at a smaller share of the boundaries,
/// and the frontier of a segment has fewer points. But each segment has a boundary at which it may split.
FrontierSettings settings(std::size_t stages) {
  FrontierSettings settings;
  if (stages <= 20) return settings;
  settings.cap = stages <= 100 ? 24 : 10;
  settings.copies = stages <= 100;
  settings.splits = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(stages))));
  settings.free_length = stages <= 100 ? settings.splits : settings.splits / 4;
  return settings;
}

/// bound_of() computes the bound of a rung, and improves the weights of this bound (FateWeights) step by step. Returns
/// the number of these steps. rounded_tape() makes tapes with these weights. So with too few steps, these tapes would
/// be worse.
int bound_steps(std::size_t stages) {
  return static_cast<int>(
      std::clamp<std::size_t>(12'000 / std::max<std::size_t>(stages, 1), 10, 40));
}

/// Returns a factor. If the estimates of two tapes differ by a smaller factor, both may be candidates. The estimate does
/// not know all ways to list the loads, so the seemingly slower tape may be faster. In short chains, the replays of such
/// tapes take little time.
double estimate_error(std::size_t stages) {
  return stages <= 4 ? 1.05 : 1;
}

/// Returns the values of Rounding::factor that are tried. The search takes time for each value, in proportion to the
/// number of stages. Therefore fewer values are tried for a long chain.
std::vector<double> copy_factors(std::size_t stages, bool host_is_limited) {
  std::vector<double> factors = {2.0};
  if (stages <= 300) factors.insert(factors.begin(), 1.2);
  if (host_is_limited) factors.insert(factors.end(), {5.0, 20.0});
  return factors;
}

}  // namespace

void FateSearch::prepare() {
  if (!frontiers_.empty()) return;
  frontiers_ =
      overlapped_frontiers(chain_, copy_prices(looked_at_as_), settings(chain_.stages.size()));
  const std::int64_t most = memory_of(chain_, alike_.front()).peak;
  for (const std::int64_t bytes : rungs_between(least(), most, looked_at_as_ <= 20 ? 48 : 24))
    rungs_.push_back({.bytes = bytes});
}

const FateBound& FateSearch::bound(Rung& rung) {
  if (!rung.bound)
    rung.bound = bound_of(chain_, rung.bytes, Copies::overlapped, bound_steps(chain_.stages.size()),
                          run_.whole_passes);
  return *rung.bound;
}

std::int64_t FateSearch::least() {
  prepare();
  std::int64_t least = memory_of(chain_, separate(chain_, frontiers_.front().tape(0))).peak;
  for (const Tape& tape : tapes_again(chain_))
    least = std::min(least, memory_of(chain_, tape).peak);
  return least;
}

namespace {

/// Returns whether one of the tapes with which the search of the smallest rung begins fits into `budget`. `room` is the
/// bytes of this rung.
bool any_fits(const Chain& chain, const std::vector<Tape>& alike,
              const std::vector<Frontier>& frontiers, std::int64_t room, std::int64_t budget) {
  const auto fits = [&](const Tape& tape) {
    return !tape.empty() && memory_of(chain, tape).peak <= budget;
  };
  return std::ranges::any_of(alike, fits) ||
         std::ranges::any_of(frontiers, [&](const Frontier& frontier) {
           return fits(tape_within(chain, frontier, room));
         });
}

}  // namespace

FateSearch::Answer FateSearch::within(std::int64_t budget, double worth) {
  Answer best{{}, budget, worth};
  if (!one_of_several_) consider_alike(budget, best);
  if (best.seconds <= run_bound(chain_, run_, 0) * (1 + 1e-12)) {
    if (best.tape.empty()) best.seconds = infinite;
    return best;
  }
  prepare();
  // The search begins with the first rung above the budget, because some tapes of this rung may fit into the budget.
  std::size_t rung = 0;
  while (rung + 1 < rungs_.size() && rungs_[rung].bytes <= budget) ++rung;
  double about = infinite;  // the estimated seconds of the best candidate so far
  int in_vain = 0;
  std::set<Key> tried;
  for (++rung; rung-- > 0 && in_vain < rungs_in_vain();) {
    Rung& here = rungs_[rung];
    if (here.bytes <= budget &&
        best.seconds <= run_bound(chain_, run_, bound(here).halves) * (1 + 1e-12))
      break;
    // If the caller already has a result, it is not worth while to look for a single tape that fits.
    const bool too_small = rung == 0 && here.bytes > budget && one_of_several_ && worth < infinite;
    if (too_small && !any_fits(chain_, alike_, frontiers_, here.bytes, budget)) break;
    search(rung);
    const double before = best.seconds;
    for (const Candidate& candidate : here.candidates) {
      if (candidate.bytes > budget || candidate.about > worth_a_replay() * about) continue;
      const bool once = one_room_a_tape(chain_.stages.size());
      if (once && !tried.insert(key_of(candidate.tape)).second) continue;
      const double was = best.seconds;
      consider(candidate.tape, candidate.bytes, best);
      if (best.seconds < was) about = std::min(about, candidate.about);
    }
    in_vain = best.seconds < before || before == infinite ? 0 : in_vain + 1;
  }
  if (best.tape.empty()) best.seconds = infinite;
  return best;
}

/// Returns a number. The search ends after this many rungs in succession without a faster tape. It goes from greater
/// rungs to smaller rungs. A tape that fits into a smaller rung also fits into a greater rung. So a smaller rung has a
/// faster tape only by chance.
int FateSearch::rungs_in_vain() const {
  const std::size_t n = chain_.stages.size();
  return n <= 20 ? std::numeric_limits<int>::max() : n <= 100 ? 4 : 3;
}

/// Returns a factor. A candidate is replayed only if its estimate is at most this factor x the estimate of the best
/// candidate so far.
double FateSearch::worth_a_replay() const {
  return chain_.stages.size() > 100 ? 1.1 : one_of_several_ ? 1.25 : infinite;
}

/// Returns a lower bound on the seconds of any run with this tape.
double FateSearch::least_seconds(const Tape& tape) const {
  const EngineSeconds engines = engine_seconds(chain_, tape);
  return std::max(run_bound(chain_, run_, engines.computed),
                  run_.micro_batches * engines.busiest());
}

/// Replays a tape and compares it with the best tape so far. If two tapes are equally fast, the tape with fewer
/// operations is better, because it copies and recomputes less.
Scored FateSearch::consider(const Tape& tape, std::int64_t bytes, Answer& best) {
  constexpr Scored nothing{infinite, 0};
  if (least_seconds(tape) > best.seconds * (1 + 1e-12)) return nothing;
  if (memory_of(chain_, tape).peak > bytes || !fits_in_host(chain_, tape)) return nothing;
  check_interrupt();
  const auto [found, fresh] = judged_.try_emplace({key_of(tape), bytes});
  if (fresh) found->second = score_(tape, bytes);
  const double seconds = found->second.seconds;
  const bool same = !best.tape.empty() && std::abs(seconds - best.seconds) <= 1e-12 * best.seconds;
  if (same ? tape.size() < best.tape.size() : seconds < best.seconds) best = {tape, bytes, seconds};
  return found->second;
}

/// Replays the tapes that treat every stage alike, each with several budgets. With a smaller budget, the loads may come
/// in another order, which by chance may be faster.
void FateSearch::consider_alike(std::int64_t bytes, Answer& best) {
  const double least = run_bound(chain_, run_, 0) * (1 + 1e-12);
  const int rooms = looked_at_as_ <= 20 ? 12 : looked_at_as_ <= 100 ? 4 : 1;
  std::vector<std::pair<double, const Tape*>> order;
  for (const Tape& tape : alike_) order.emplace_back(rooms > 1 ? 0 : least_seconds(tape), &tape);
  // With a single replay per tape, the order only matters among equally fast tapes. A tape with a low bound is probably
  // fast. It comes first, so that slower tapes need no replay.
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [bound, tape] : order) {
    std::int64_t room = bytes;
    for (int i = 0; i < rooms && room > 0 && best.seconds > least; ++i)
      room = consider(*tape, room, best).bytes - 1;
  }
}

void FateSearch::search(std::size_t number) {
  Rung& rung = rungs_[number];
  if (std::exchange(rung.searched, true)) return;
  const auto n = static_cast<std::int64_t>(looked_at_as_);
  const std::int64_t estimates = std::clamp<std::int64_t>(400'000 / (n * n), 24, 400);
  pool_.clear();
  room_ = rung.bytes;
  left_ = estimates;
  Candidate best{{}, room_, infinite};
  for (const Tape& tape : alike_) take(tape, best);
  for (const Frontier& frontier : frontiers_)
    if (const Tape tape = tape_within(chain_, frontier, room_); !tape.empty()) take(tape, best);
  for (const Fate fate : {Fate::keep, Fate::offload})
    descend(std::vector<Fate>(chain_.stages.size(), fate), best);
  round(bound(rung), best);
  left_ = estimates;
  // With more than 100 stages, the estimates that may still be made are too few to try one change
  // per stage.
  if (chain_.stages.size() <= 100)
    improve(best);
  else if (best.about < infinite)
    take(tape_of(chain_, choices_of(chain_, best.tape)), best);
  shortlist(rung, number == 0 ? 0 : rungs_[number - 1].bytes, estimates);
}

/// Chooses the candidates of the rung: those that are faster, by the estimate, than all candidates with fewer bytes, or
/// that are hardly slower (estimate_error). Each tape is tried first with few bytes, and then with more and more bytes.
/// The tries end when the tape is as fast as with all bytes of the rung.
void FateSearch::shortlist(Rung& rung, std::int64_t below, std::int64_t estimates) {
  std::vector<const std::pair<Tape, Estimate>*> fastest;
  for (const auto& [key, entry] : pool_)
    if (entry.second.about < infinite) fastest.push_back(&entry);
  std::stable_sort(fastest.begin(), fastest.end(), [](const auto* a, const auto* b) {
    return std::pair(a->second.about, a->first.size()) <
           std::pair(b->second.about, b->first.size());
  });
  std::vector<Candidate> all;
  left_ = estimates;
  for (const auto* entry : fastest) {
    if (left_ <= 0) break;
    const auto& [tape, known] = *entry;
    const TapeMemory memory = memory_of(chain_, tape);
    for (std::int64_t bytes = std::max(known.peak, below); bytes <= rung.bytes;) {
      --left_;
      const EstimatedSeconds about = estimate_within(tape, memory, bytes);
      all.push_back({tape, bytes, about.seconds});
      if (about.seconds <= known.about) break;
      bytes = std::max(about.next, bytes + (rung.bytes - below) / 64 + 1);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(a.bytes, a.about) < std::pair(b.bytes, b.about);
  });
  double before = infinite;
  for (Candidate& candidate : all)
    if (candidate.about < estimate_error(looked_at_as_) *
                              std::exchange(before, std::min(before, candidate.about)))
      rung.candidates.push_back(std::move(candidate));
  std::stable_sort(rung.candidates.begin(), rung.candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.about < b.about; });
}

EstimatedSeconds FateSearch::estimate_within(const Tape& tape, const TapeMemory& memory,
                                             std::int64_t bytes) const {
  return estimated_seconds(chain_, tape, memory, bytes, run_.micro_batches, run_.one_a_step);
}

/// Returns the estimated seconds of the tape with the bytes of the rung. If the tape does not fit, returns infinity.
double FateSearch::estimate(const Tape& tape) {
  const auto [found, fresh] = pool_.try_emplace(key_of(tape));
  auto& [known, seen] = found->second;
  if (!fresh) return seen.about;
  --left_;
  check_interrupt();
  const TapeMemory memory = memory_of(chain_, tape);
  seen = {memory.peak, infinite};
  if (memory.peak > room_ || !fits_in_host(chain_, tape)) return infinite;
  known = tape;
  return seen.about = estimate_within(tape, memory, room_).seconds;
}

double FateSearch::take(const Tape& tape, Candidate& best) {
  const double about = estimate(tape);
  if (about < best.about ||
      (about == best.about && about < infinite && tape.size() < best.tape.size()))
    best = {tape, room_, about};
  return about;
}

namespace {

/// `value` is a function of the numbers 0 to `most`, with a single minimum. Returns a short range that contains the
/// minimum. The search is by golden sections: each step after the first calls the function once.
template <typename Function>
std::pair<std::int64_t, std::int64_t> narrowed(std::int64_t most, const Function& value) {
  std::int64_t low = 0, high = most;
  std::int64_t right = static_cast<std::int64_t>(0.618 * static_cast<double>(most));
  std::int64_t left = most - right;
  if (left >= right) return {low, high};
  double at_left = value(left), at_right = value(right);
  while (high - low > 2 + high / 16) {
    if (at_left <= at_right) {
      high = std::exchange(right, left);
      left = low + (high - right);
      if (left >= right) break;
      at_right = std::exchange(at_left, value(left));
    } else {
      low = std::exchange(left, right);
      right = high - (left - low);
      if (left >= right) break;
      at_left = std::exchange(at_right, value(right));
    }
  }
  return {low, high};
}

}  // namespace

/// Makes tapes from the solution of the relaxation, one tape for each Rounding, and takes the best. If several
/// devices take turns, one of them may have too little memory, while the others have enough. So each view of their
/// memories is tried.
void FateSearch::round(const FateBound& bound, Candidate& best) {
  if (std::isinf(bound.seconds)) return;
  const bool few = chain_.stages.size() <= 100;
  FittingTapes tapes(chain_, room_);
  for (const Chain& view : memory_views(chain_))
    for (const double factor : copy_factors(chain_.stages.size(), chain_.host_room.has_value()))
      for (const double segment : few ? std::vector{0.1, 0.3, 0.6} : std::vector{0.2, 0.6}) {
        std::map<std::int64_t, double> known;
        const auto seconds = [&](std::int64_t early) {
          const auto [found, fresh] = known.try_emplace(early, infinite);
          if (!fresh) return found->second;
          const Rounding rounding{static_cast<std::size_t>(early), factor, segment, &view};
          const Tape tape = rounded_tape(tapes, bound.weights, rounding);
          return found->second = tape.empty() ? infinite : take(tape, best);
        };
        const auto [low, high] = narrowed(static_cast<std::int64_t>(chain_.stages.size()), seconds);
        for (const std::int64_t early : {low, (low + high) / 2, high}) seconds(early);
      }
}

}  // namespace sluice
