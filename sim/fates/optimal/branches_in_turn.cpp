#include "fates/optimal/branches_in_turn.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "base/interrupt.hpp"
#include "base/never.hpp"
#include "fates/optimal/memory_views.hpp"
#include "fates/optimal/relaxation.hpp"
#include "fates/optimal/rounding.hpp"
#include "fates/optimal/search.hpp"

namespace sluice {
namespace {

/// The greatest number of stages for which all choices are tried. A chain of 4 stages has 4 inner tensors and 5
/// boundaries. Each of these 9 tensors has at most 3 fates, so there are at most 3^9 combinations.
constexpr std::size_t most_tried_all = 4;

/// Returns the positions of loads in a tape that may be removed, because the device could keep the boundary instead.
/// These are the loads that bring a boundary once more, although no pass has made it again since its last load. If
/// several devices use the boundary, some of them may keep it while others load it. So then these are all its loads.
std::vector<std::size_t> repeated_loads(const Chain& chain, const Tape& tape) {
  std::vector<std::size_t> positions;
  std::vector<bool> loaded(chain.stages.size() + 1, false);
  for (std::size_t at = 0; at < tape.size(); ++at) {
    const TapeOp& op = tape[at];
    if (op.kind == TapeOp::Kind::forward) loaded[op.number + 1] = chain.devices > 1;
    if (op.kind != TapeOp::Kind::load || op.inner) continue;
    if (loaded[op.number]) positions.push_back(at);
    loaded[op.number] = true;
  }
  return positions;
}

/// Improves choices step by step. A step changes one choice or two choices. The change is kept if the new tape fits
/// and is faster.
class Descent {
 public:
  Descent(const Chain& chain, std::int64_t budget)
      : chain_(chain),
        budget_(budget),
        count_(2 * chain.stages.size() + 1),
        left_(static_cast<std::int64_t>(4'000'000 / (count_ * count_)) +
              (chain.devices > 1 ? 3000 : 500)) {}

  /// If `stride` is not 0, first changes the choices one by one, in the order that this stride gives (sweep).
  Tape improve(const Tape& from, std::size_t stride = 0) {
    best_ = from;
    seconds_ = from.empty() ? never : serial_seconds(chain_, from);
    Choices choices = choices_of(chain_, from);
    if (stride > 0) sweep(choices, stride);
    while (left_ > 0 && (change_one(choices) || change_two(choices))) {
    }
    return best_;
  }

  /// Tries all combinations of choices. Returns the fastest tape that fits. If no tape is faster
  /// than `known`, returns `known`.
  Tape best_of_all(const Tape& known) {
    best_ = known;
    seconds_ = known.empty() ? never : serial_seconds(chain_, known);
    const std::size_t n = chain_.stages.size();
    Choices choices{std::vector<Fate>(n, Fate::keep), std::vector<Fate>(n + 1, Fate::keep)};
    try_all(choices, 0);
    return best_;
  }

 private:
  void try_all(Choices& choices, std::size_t place) {
    if (place == count_) {
      Choices may = choices;
      keep_what_nobody_makes(may);
      if (may == choices) is_faster(choices);
      return;
    }
    for (const Fate fate : {Fate::keep, Fate::offload, Fate::recompute}) {
      fate_at(choices, place) = fate;
      try_all(choices, place + 1);
    }
  }

  /// Tries each change of one choice once, and makes those that give a faster tape. So each device keeps what fits
  /// there. The next place is `stride` places further, and the last place is followed by the first. The stride is
  /// increased if not all places would be visited.
  void sweep(Choices& choices, std::size_t stride) {
    while (std::gcd(stride, count_) > 1) ++stride;
    std::size_t place = 0;
    for (std::size_t i = 0; i < count_ && left_ > 0; ++i, place = (place + stride) % count_)
      for (const Fate fate : {Fate::recompute, Fate::offload, Fate::keep}) {
        Choices changed = choices;
        if (std::exchange(fate_at(changed, place), fate) != fate && is_faster(changed))
          choices = std::move(changed);
      }
  }

  /// Tries changes of one choice, at a place from `first` on. Makes the first change that gives a faster tape. Returns
  /// false if there is no such change.
  bool change_one(Choices& choices, std::size_t first = 0) {
    return change(choices, first,
                  [&](Choices& changed, std::size_t) { return is_faster(changed); });
  }
  /// The same for changes of two choices.
  bool change_two(Choices& choices) {
    return change(choices, 0, [&](Choices& changed, std::size_t place) {
      return change_one(changed, place + 1);
    });
  }
  /// `improves` says for a change of one choice whether a faster tape is found with it.
  template <class Improves>
  bool change(Choices& choices, std::size_t first, const Improves& improves) {
    for (std::size_t place = first; place < count_ && left_ > 0; ++place)
      for (const Fate fate : {Fate::keep, Fate::offload, Fate::recompute}) {
        Choices changed = choices;
        if (std::exchange(fate_at(changed, place), fate) == fate) continue;
        if (improves(changed, place)) {
          choices = std::move(changed);
          return true;
        }
      }
    return false;
  }

  bool is_faster(Choices choices) {
    keep_what_nobody_makes(choices);
    --left_;
    check_interrupt();
    Tape tape = tape_of(chain_, choices);
    std::vector<std::size_t> repeated;
    // With several devices, nearly every load may be removed. In a larger chain, improved_tape() tries it at the end.
    if (chain_.devices == 1 || chain_.stages.size() <= most_tried_all)
      repeated = repeated_loads(chain_, tape);
    double least = serial_seconds(chain_, tape);
    for (const std::size_t at : repeated) least -= chain_.boundary(tape[at].number).load_s;
    if (!improves(least) || !fits(tape) || !fits_in_host(chain_, tape)) return false;
    stay_after_loads(repeated, tape);
    const double seconds = serial_seconds(chain_, tape);
    if (!improves(seconds)) return false;
    best_ = std::move(tape);
    seconds_ = seconds;
    return true;
  }

  bool improves(double seconds) const { return seconds < seconds_ * (1 - 1e-12); }
  bool fits(const Tape& tape) const { return memory_of(chain_, tape).peak <= budget_; }

  /// A boundary that several backward passes read is loaded for each of these passes. Removes the repeated loads of
  /// boundaries that may stay on the device instead. Of a few repeated loads, removes those that together save the most
  /// seconds. If there are many, removes each load that may be removed, beginning with the last one.
  void stay_after_loads(const std::vector<std::size_t>& repeated, Tape& tape) const {
    if (repeated.size() > most_compared()) {
      for (std::size_t i = repeated.size(); i-- > 0;)
        if (Tape fewer = without(tape, {repeated[i]}); fits(fewer)) tape = std::move(fewer);
      return;
    }
    const Tape all = tape;
    const double all_s = serial_seconds(chain_, tape);
    double seconds = std::min(all_s, seconds_);
    for (std::size_t set = 1; set < std::size_t{1} << repeated.size(); ++set) {
      std::vector<std::size_t> removed;
      double now = all_s;
      for (std::size_t i = repeated.size(); i-- > 0;)
        if ((set >> i & 1U) != 0) {
          removed.push_back(repeated[i]);
          now -= chain_.boundary(all[repeated[i]].number).load_s;
        }
      if (now >= seconds) continue;
      Tape fewer = without(all, removed);
      if (!fits(fewer)) continue;
      tape = std::move(fewer);
      seconds = now;
    }
  }

  /// Returns the tape without the operations at these positions, the last position first.
  static Tape without(Tape tape, const std::vector<std::size_t>& positions) {
    for (const std::size_t at : positions)
      tape.erase(tape.begin() + static_cast<std::ptrdiff_t>(at));
    return tape;
  }

  /// Returns the greatest number of repeated loads of which all sets are compared.
  std::size_t most_compared() const { return chain_.devices == 1 ? 6 : 10; }

  const Chain& chain_;
  std::int64_t budget_;
  std::size_t count_;  ///< number of choices
  std::int64_t left_;  ///< the number of tapes that may still be tried
  Tape best_;
  double seconds_ = never;
};

}  // namespace

std::vector<Tape> tapes_again(const Chain& chain) {
  const std::size_t n = chain.stages.size();
  Choices again{std::vector<Fate>(n, Fate::recompute), std::vector<Fate>(n + 1, Fate::offload)};
  std::vector<Tape> tapes;
  if (chain.side_by_side > 1) tapes.push_back(tape_of(chain, again));
  again.boundary.back() = Fate::keep;
  if (chain.devices > 1) tapes.push_back(tape_of(chain, again));
  return tapes;
}

namespace {

/// Returns the fastest of the tapes that are similar to the relaxation of a view of the devices' memories.
Tape fastest_rounding(const Chain& chain, std::int64_t budget, double segment) {
  const FateWeights weights = FateWeights::serial(chain.stages.size());
  FittingTapes tapes(chain, budget);
  Tape best;
  for (const Chain& view : memory_views(chain)) {
    Tape tape = rounded_tape(tapes, weights, {0, 1, segment, &view});
    if (tape.empty() || !fits_in_host(chain, tape)) continue;
    if (best.empty() || serial_seconds(chain, tape) < serial_seconds(chain, best))
      best = std::move(tape);
  }
  return best;
}

/// Returns the strides with which each start is improved (Descent::improve). With several devices, the results differ
/// by a few per cent, and none of the strides is always the best.
std::vector<std::size_t> strides(const Chain& chain) {
  const std::size_t places = 2 * chain.stages.size() + 1;
  if (chain.devices == 1) return {0};
  return {1, places - 1, places * 3 / 8};
}

}  // namespace

Tape search_branches(const Chain& chain, std::int64_t budget, const Tape& known) {
  if (chain.stages.size() <= most_tried_all) return Descent(chain, budget).best_of_all(known);
  std::vector<Tape> starts = {known};
  const auto start_from = [&](Tape tape) {
    if (std::find(starts.begin(), starts.end(), tape) == starts.end())
      starts.push_back(std::move(tape));
  };
  for (Tape& tape : tapes_again(chain)) start_from(std::move(tape));
  if (FateRelaxation(chain, budget).fits())
    for (const double segment : {0.1, 0.3, 0.6})
      start_from(fastest_rounding(chain, budget, segment));
  Tape best = known;
  for (const Tape& start : starts) {
    if (start.empty() || !fits_in_host(chain, start) || memory_of(chain, start).peak > budget)
      continue;
    for (const std::size_t stride : strides(chain)) {
      Tape tape = Descent(chain, budget).improve(start, stride);
      if (best.empty() || serial_seconds(chain, tape) < serial_seconds(chain, best))
        best = std::move(tape);
    }
  }
  return best;
}

}  // namespace sluice
