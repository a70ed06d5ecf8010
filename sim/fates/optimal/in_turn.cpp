#include "fates/optimal/in_turn.hpp"

#include <algorithm>

#include "base/never.hpp"
#include "fates/optimal/bound.hpp"
#include "fates/optimal/branches_in_turn.hpp"
#include "fates/optimal/joint.hpp"
#include "fates/optimal/tape_descent.hpp"

namespace sluice {
namespace {

/// Returns the settings of the frontiers of a chain. If a chain branches, its stages form short blocks, and only few
/// boundaries of a block are good for a split. The segments of such a chain may split at more boundaries, so that good
/// ones are among them.
FrontierSettings settings_of(const Chain& chain) {
  FrontierSettings settings;
  if (chain.branches()) settings.splits = settings.splits * 3 / 2;
  return settings;
}

}  // namespace

InTurnSearch::InTurnSearch(const FateRequest& request)
    : chain_(request.chain),
      joint_(joint_chain(chain_)),
      alike_(alike_tapes(request.chain)),
      has_frontiers_(chain_.devices == 1 || !request.one_of_several) {}

Tape InTurnSearch::within(std::int64_t budget) {
  if (keeps_all(budget)) return alike_.front();
  Tape best;
  const auto consider = [&](const Tape& tape) {
    if (best.empty() || serial_seconds(chain_, tape) < serial_seconds(chain_, best) * (1 - 1e-12))
      best = tape;
  };
  // Whole frontiers take long to compute. So they are computed only if the smallest tape fits.
  if (has_frontiers_ && least().bytes <= budget) {
    if (fits_in_host(chain_, least().tape)) consider(least().tape);
    consider_frontiers(budget, consider);
  }
  for (const Tape& tape : alike_)
    if (memory_of(chain_, tape).peak <= budget && fits_in_host(chain_, tape)) consider(tape);
  if (is_view() || takes_turns()) best = search_branches(chain_, budget, best);
  return best.empty() ? best : improved_tape(chain_, budget, best);
}

const SmallestTape& InTurnSearch::least() {
  if (!least_) least_ = find_smallest();
  return *least_;
}

double InTurnSearch::seconds(std::int64_t budget) {
  const Tape tape = within(budget);
  return tape.empty() ? never : serial_seconds(chain_, tape);
}

double InTurnSearch::bound(std::int64_t budget) const {
  return keeps_all(budget) ? serial_seconds(chain_, alike_.front())
                           : fate_bound(chain_, budget, Copies::serial);
}

/// Returns whether the frontiers belong to a view of the chain, in which there are no branches, and the memories of all
/// devices count as one.
bool InTurnSearch::is_view() const {
  return chain_.branches() || chain_.devices > 1;
}

/// Returns whether weights take turns. Then the seconds of the frontiers are only close to those of their tapes
/// (with_turns).
bool InTurnSearch::takes_turns() const {
  return std::any_of(chain_.stages.begin(), chain_.stages.end(),
                     [](const ChainStage& stage) { return stage.turn.bytes > 0; });
}

/// Returns whether the budget is enough to keep all tensors. Then no tensor is copied or computed again.
bool InTurnSearch::keeps_all(std::int64_t budget) const {
  return memory_of(chain_, alike_.front()).peak <= budget;
}

/// Returns the tape with the fewest bytes that was found. If the chain branches, a second tape is tried. It comes
/// from a view in which no part of a boundary counts as carried (ChainCarried). So in this view, each boundary takes
/// memory for all its tensors, even if an earlier boundary has them on the device already. In this view, the second
/// tape needs more bytes than the first. But in the chain itself, it may need fewer.
SmallestTape InTurnSearch::find_smallest() const {
  FrontierSettings settings = settings_of(chain_);
  settings.only_least = true;
  SmallestTape least;
  Chain view = joint_;
  for (int i = 0; i < (chain_.branches() ? 2 : 1); ++i) {
    const Frontier frontier(view, settings);
    Tape tape = tape_of(frontier, 0);
    const std::int64_t bytes = memory_of(chain_, tape).peak;
    if (bytes < least.bytes) least = {bytes, std::move(tape)};
    for (ChainStage& stage : view.stages) stage.carried = {};
  }
  for (Tape& tape : tapes_again(chain_))
    if (const std::int64_t bytes = memory_of(chain_, tape).peak; bytes < least.bytes)
      least = {bytes, std::move(tape)};
  return least;
}

Tape InTurnSearch::tape_of(const Frontier& frontier, std::size_t point) const {
  return separate(chain_, frontier.tape(point));
}

/// Looks at the points of the frontiers whose tapes fit into the budget and into host memory. Calls `use` for some of
/// these tapes, and always for the fastest tape.
void InTurnSearch::consider_frontiers(std::int64_t budget, const Use& use) {
  for (const Frontier& frontier : frontiers()) {
    if (is_view()) {
      consider_all_points(frontier, budget, use);
      continue;
    }
    const std::size_t first = point_within(chain_, frontier, budget);
    if (first == frontier.points().size()) continue;
    for (std::size_t point = first + 1; point-- > 0;) {
      const Tape tape = tape_of(frontier, point);
      if (!fits_in_host(chain_, tape) || memory_of(chain_, tape).peak > budget) continue;
      use(tape);
      break;
    }
  }
}

/// Calls `use` for the tape of each point that fits and is faster than all earlier points that fit. For a chain that
/// branches, a tape has other bytes and seconds than its point, which belongs to the view. With several devices, it has
/// other bytes. So any point may have the fastest tape that fits.
void InTurnSearch::consider_all_points(const Frontier& frontier, std::int64_t budget,
                                       const Use& use) const {
  double fastest = never;
  for (std::size_t point = 0; point < frontier.points().size(); ++point) {
    const Tape tape = tape_of(frontier, point);
    const double seconds = serial_seconds(chain_, tape);
    if (seconds >= fastest || memory_of(chain_, tape).peak > budget || !fits_in_host(chain_, tape))
      continue;
    fastest = seconds;
    use(tape);
  }
}

/// If host memory is unlimited, returns a single frontier. If host memory is limited, a saved byte has a price: the
/// seconds by which its save takes longer (host_prices() returns the prices that are tried). Then returns one frontier
/// for each of these prices, and one frontier of schedules without copies.
const std::vector<Frontier>& InTurnSearch::frontiers() {
  if (!frontiers_.empty()) return frontiers_;
  FrontierSettings settings = settings_of(chain_);
  for (const double price : host_prices(chain_))
    frontiers_.emplace_back(with_host_price(with_turns(joint_, 1), price), settings);
  settings.copies = false;
  if (chain_.host_room) frontiers_.emplace_back(with_turns(joint_, 1), settings);
  return frontiers_;
}

}  // namespace sluice
