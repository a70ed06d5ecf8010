#include "fates/optimal/rounding.hpp"

#include <cmath>
#include <utility>

#include "fates/optimal/priced_choices.hpp"

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

/// Returns a text that is equal for equal choices of a chain, and different for different ones.
std::string key_of(const Choices& choices) {
  std::string key;
  key.reserve(choices.inner.size() + choices.boundary.size());
  for (const std::vector<Fate>* fates : {&choices.inner, &choices.boundary})
    for (const Fate fate : *fates) key.push_back(static_cast<char>(fate));
  return key;
}

}  // namespace

const Tape& FittingTapes::of(const Choices& choices) {
  const auto [found, fresh] = known_.try_emplace(key_of(choices));
  if (!fresh) return found->second;
  Tape tape = tape_of(chain_, choices);
  if (memory_of(chain_, tape).peak <= budget_) found->second = std::move(tape);
  return found->second;
}

Tape rounded_tape(FittingTapes& tapes, const FateWeights& weights, const Rounding& rounding) {
  const Chain& chain = tapes.chain();
  FateWeights priced = weights;
  for (std::size_t s = 0; s < chain.stages.size(); ++s) {
    const double factor = s < rounding.early ? 1 / rounding.factor : rounding.factor;
    priced.save[s] *= factor;
    priced.load[s] *= factor;
  }
  const Chain& view = rounding.view ? *rounding.view : chain;
  const double steepest = FateRelaxation(view, tapes.budget()).steepest();
  const double most = rounding.segment * static_cast<double>(tapes.budget());
  const BoundaryReads reads = turning_point(view, 0).reads;
  PricedChoices relaxation(view, priced, reads);
  const auto choices_at = [&](double price) {
    Choices choices = relaxation.at(price);
    limit_segments(view, priced, price, most, choices);
    return choices;
  };
  double low = 1e-9 * steepest, high = 2 * steepest;
  Choices fits = choices_at(high), exceeds;
  const Tape* best = &tapes.of(fits);
  // This loop searches for the least price of a byte at which the tape fits into the budget.
  for (int i = 0; i < 11; ++i) {
    const double price = std::sqrt(low * high);
    Choices choices = choices_at(price);
    const bool known_to_fit = !best->empty() && choices == fits;
    if (known_to_fit || choices == exceeds) {
      (known_to_fit ? high : low) = price;
      continue;
    }
    const Tape& tape = tapes.of(choices);
    (tape.empty() ? low : high) = price;
    (tape.empty() ? exceeds : fits) = std::move(choices);
    if (!tape.empty()) best = &tape;
  }
  return *best;
}

}  // namespace sluice
