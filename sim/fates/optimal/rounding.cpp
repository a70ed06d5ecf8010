#include "fates/optimal/rounding.hpp"

#include <cmath>

#include "fates/optimal/relaxation.hpp"

namespace sluice {
namespace {

/// Consecutive stages that run again together form a segment. Changes the fates of some dropped boundaries, so that no
/// segment makes more than `most` bytes. Such a boundary is kept or goes to host memory. It goes to host memory if its
/// copies cost less than the price of its bytes.
void limit_segments(const Chain& chain, const FateWeights& weights, double price, double most,
                    Choices& choices) {
  double bytes = 0;
  for (std::size_t s = 0; s < chain.stages.size(); ++s) {
    if (choices.boundary[s] != Fate::recompute) bytes = 0;
    const ChainStage& stage = chain.stages[s];
    bytes += static_cast<double>(stage.inner.bytes + chain.boundary(s).bytes);
    if (bytes <= most || choices.boundary[s] != Fate::recompute) continue;
    const ChainTensor& kept = chain.boundary(s);
    const double copies = weights.save[s - 1] * kept.save_s + weights.load[s - 1] * kept.load_s;
    choices.boundary[s] =
        copies < price * static_cast<double>(kept.bytes) ? Fate::offload : Fate::keep;
    bytes = static_cast<double>(stage.inner.bytes);
  }
}

}  // namespace

Tape rounded_tape(const Chain& chain, std::int64_t budget, const FateWeights& weights,
                  const Rounding& rounding) {
  FateWeights priced = weights;
  for (std::size_t s = 0; s < chain.stages.size(); ++s) {
    const double factor = s < rounding.early ? 1 / rounding.factor : rounding.factor;
    priced.save[s] *= factor;
    priced.load[s] *= factor;
  }
  const Chain& view = rounding.view ? *rounding.view : chain;
  const FateRelaxation relaxation(view, budget);
  const auto choices_at = [&](double price) {
    Choices choices = relaxation.at(priced, price).choices;
    limit_segments(view, priced, price, rounding.segment * static_cast<double>(budget), choices);
    return choices;
  };
  double low = 1e-9 * relaxation.steepest(), high = 2 * relaxation.steepest();
  const auto tape_within = [&](const Choices& choices) {
    Tape tape = tape_of(chain, choices);
    if (memory_of(chain, tape).peak > budget) tape.clear();
    return tape;
  };
  Choices fits = choices_at(high), exceeds;
  Tape best = tape_within(fits);
  // This loop searches for the least price of a byte at which the tape fits into the budget.
  for (int i = 0; i < 11; ++i) {
    const double price = std::sqrt(low * high);
    Choices choices = choices_at(price);
    const bool known_to_fit = !best.empty() && choices == fits;
    if (known_to_fit || choices == exceeds) {
      (known_to_fit ? high : low) = price;
      continue;
    }
    Tape tape = tape_within(choices);
    (tape.empty() ? low : high) = price;
    (tape.empty() ? exceeds : fits) = std::move(choices);
    if (!tape.empty()) best = std::move(tape);
  }
  return best;
}

}  // namespace sluice
