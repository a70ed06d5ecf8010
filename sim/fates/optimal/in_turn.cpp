#include "fates/optimal/in_turn.hpp"

#include <cmath>

#include "fates/optimal/bound.hpp"
#include "fates/optimal/branches_in_turn.hpp"
#include "fates/optimal/joint.hpp"

namespace sluice {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// Returns the settings of a frontier of a view whose bytes are guesses. For a long chain, a coarse frontier is enough.
FrontierSettings guessing(std::size_t stages) {
  FrontierSettings settings;
  if (stages <= 64) return settings;
  settings.cap = 16;
  settings.splits = settings.free_length =
      static_cast<std::size_t>(std::sqrt(static_cast<double>(stages)));
  return settings;
}

}  // namespace

InTurnSearch::InTurnSearch(const FateRequest& request)
    : chain_(request.chain),
      joint_(joint_chain(chain_)),
      exact_(!request.takes_turns() && !request.chain.host_room && !chain_.branches()),
      alike_(alike_tapes(request.chain)) {}

Tape InTurnSearch::within(std::int64_t budget) {
  if (keeps_all(budget)) return alike_.front();
  Tape best;
  const auto consider = [&](const Tape& tape) {
    if (best.empty() || serial_seconds(chain_, tape) < serial_seconds(chain_, best) * (1 - 1e-12))
      best = tape;
  };
  // Computing whole frontiers takes long. So whole frontiers are computed only if the point that needs the least memory
  // fits.
  if (peak_of(least_frontier(true), 0) <= budget) consider_frontiers(budget, consider);
  for (const Tape& tape : alike_)
    if (memory_of(chain_, tape).peak <= budget && fits_in_host(chain_, tape)) consider(tape);
  return chain_.branches() ? search_branches(chain_, budget, best) : best;
}

SmallestTape InTurnSearch::least() const {
  const Frontier frontier = least_frontier(!chain_.host_room);
  return {peak_of(frontier, 0), tape_of(frontier, 0)};
}

double InTurnSearch::seconds(std::int64_t budget) {
  const Tape tape = within(budget);
  return tape.empty() ? never : serial_seconds(chain_, tape);
}

double InTurnSearch::bound(std::int64_t budget) {
  if (keeps_all(budget)) return serial_seconds(chain_, alike_.front());
  return frontiers().front().thinned() || !exact_ ? fate_bound(chain_, budget, Copies::serial)
                                                  : seconds(budget);
}

/// Returns whether all tensors can be kept, so that no tensor is copied or computed again.
bool InTurnSearch::keeps_all(std::int64_t budget) const {
  return memory_of(chain_, alike_.front()).peak <= budget;
}

/// Returns a frontier with a single point, which needs the least bytes. Parameter `copies` says whether schedules may
/// copy tensors to host memory.
Frontier InTurnSearch::least_frontier(bool copies) const {
  return {joint_, {.copies = copies, .only_least = true}};
}

Tape InTurnSearch::tape_of(const Frontier& frontier, std::size_t point) const {
  return separate(chain_, frontier.tape(point));
}

std::int64_t InTurnSearch::peak_of(const Frontier& frontier, std::size_t point) const {
  return memory_of(chain_, tape_of(frontier, point)).peak;
}

/// Calls `use` for points of each frontier that fit into the budget and into host memory. The fastest such point is one
/// of them.
void InTurnSearch::consider_frontiers(std::int64_t budget, const Use& use) {
  for (const Frontier& frontier : frontiers()) {
    if (chain_.branches()) {
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

/// Calls `use` for each point of a frontier that fits and is faster than all such points before it. A chain that
/// branches needs other bytes and other seconds than its view, so the fastest point that fits may be any point.
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

/// Returns one frontier if host memory is unlimited. If host memory is limited, returns a frontier for each price of
/// its bytes, and a frontier without copies. If the chain branches, also returns frontiers of views that count a
/// shortcut only in part (joint_chain() with `shared` < 1).
const std::vector<Frontier>& InTurnSearch::frontiers() {
  if (!frontiers_.empty()) return frontiers_;
  for (const double price : host_prices(chain_))
    frontiers_.emplace_back(with_host_price(with_turns(joint_, 1), price));
  if (chain_.host_room)
    frontiers_.emplace_back(with_turns(joint_, 1), FrontierSettings{.copies = false});
  if (chain_.branches())
    for (const double shared : {0.7, 0.2})
      frontiers_.emplace_back(with_turns(joint_chain(chain_, shared), 1),
                              guessing(chain_.stages.size()));
  return frontiers_;
}

}  // namespace sluice
