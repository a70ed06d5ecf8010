#include "fates/optimal/few_tapes.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/never.hpp"
#include "fates/optimal/branches_in_turn.hpp"
#include "fates/optimal/joint.hpp"
#include "fates/optimal/report.hpp"
#include "fates/optimal/rounding.hpp"
#include "fates/tape_time.hpp"

namespace sluice {
namespace {

/// The number of tapes that are replayed, for each chain.
constexpr std::size_t most_replays = 3;

/// Collects tapes of a request that fit into a budget, and replays those with the least estimated seconds.
class FewTapes {
 public:
  /// `selective` says whether the request is the selective one. The caller tries all tapes that treat every stage
  /// alike, but in a selective request only the first of them, which keeps all tensors (strategy `selective`).
  FewTapes(const FateRequest& request, std::int64_t budget, bool selective)
      : request_(request), chain_(request.chain), budget_(budget), tried_(alike_tapes(chain_)) {
    if (!selective) return;
    other_alike_.assign(tried_.begin() + 1, tried_.end());
    tried_.resize(1);
  }

  /// Returns the fastest replayed tape. If no tape was found that fits, returns an empty tape and infinite seconds.
  FateChoice fastest() {
    add_frontiers();
    add_roundings();
    for (const Tape& tape : other_alike_) add(tape);
    for (Tape& tape : tapes_again(chain_)) add(std::move(tape));
    if (found_.empty())
      for (const Tape& tape : std::exchange(tried_, {})) add(tape);
    std::ranges::stable_sort(found_, {}, &Found::about);
    if (found_.size() > most_replays) found_.resize(most_replays);
    FateChoice best;
    best.seconds = never;
    for (Found& one : found_) {
      const double seconds = request_.score(one.tape, budget_).seconds;
      if (seconds >= *best.seconds) continue;
      best.tape = std::move(one.tape);
      best.seconds = seconds;
    }
    best.bytes = budget_;
    return best;
  }

 private:
  struct Found {
    Tape tape;
    double about = 0;  ///< estimated seconds
  };

  void add_frontiers() {
    const FrontierSettings settings{.cap = 24, .splits = 24};
    for (const Frontier& frontier : overlapped_frontiers(chain_, {1.0, 0.3, 0.0}, settings))
      add(tape_within(chain_, frontier, budget_));
  }

  void add_roundings() {
    constexpr int steps = 20;
    const std::size_t n = chain_.stages.size();
    const FateBound bound =
        bound_of(chain_, budget_, Copies::overlapped, steps, request_.run.whole_passes);
    if (bound.seconds == never) return;
    FittingTapes tapes(chain_, budget_);
    for (const std::size_t early : {std::size_t{0}, n / 2, n})
      for (const double segment : {0.1, 0.6})
        add(rounded_tape(tapes, bound.weights, {early, 2.0, segment}));
  }

  /// Adds a tape that fits, unless it was added before or is in `tried_`.
  void add(Tape tape) {
    if (tape.empty() || std::ranges::find(tried_, tape) != tried_.end() ||
        std::ranges::find(found_, tape, &Found::tape) != found_.end())
      return;
    const TapeMemory memory = memory_of(chain_, tape);
    if (memory.peak > budget_ || !fits_in_host(chain_, tape)) return;
    const FateRun& run = request_.run;
    const double about =
        estimated_seconds(chain_, tape, memory, budget_, run.micro_batches, run.one_a_step).seconds;
    found_.push_back({std::move(tape), about});
  }

  const FateRequest& request_;
  const Chain& chain_;
  std::int64_t budget_;
  std::vector<Tape> tried_;        ///< the tapes that the caller tries, which add() leaves out
  std::vector<Tape> other_alike_;  ///< the other tapes that treat every stage alike
  std::vector<Found> found_;
};

}  // namespace

FateChoice choose_among_few(const Chosen<FateStrategy>& strategy, const FateRequest& request) {
  const Reader parameters = strategy.keys.reader();
  const auto own = [&] { return strategy->choose(request, parameters); };
  if (!request.overlap || parameters.text("solver") != "frontier") return own();
  std::int64_t budget = request.budget.value_or(std::numeric_limits<std::int64_t>::max());
  if (parameters.has("budget")) budget = std::min(budget, parameters.bytes("budget"));
  FateChoice choice = FewTapes(request, budget, /*selective=*/false).fastest();
  if (request.selective) {
    FateChoice selective = FewTapes(*request.selective, budget, /*selective=*/true).fastest();
    selective.selective = true;
    if (*selective.seconds < *choice.seconds) choice = std::move(selective);
  }
  if (choice.tape.empty()) return own();
  explain(choice.selective ? request.selective->chain : request.chain, choice);
  return choice;
}

}  // namespace sluice
