// What a chain's tensors should become if only one moment had to fit, the turning point: the first
// backward pass, that of the last stage. What that operation reads and makes is on the device.
// Whatever else a later backward pass reads is on the device too, or its stage runs again
// afterwards, or it is loaded afterwards (and was saved before, but for the input). A stage that
// runs again needs its input the same way. That is a chain of choices with one constraint, the
// bytes; its Lagrangian relaxation is solved exactly for each price of a byte. Every price gives a
// lower bound (bound.hpp), and its choices are where a search begins (search.hpp). What runs again
// twice, and memory at any other moment, is not in it.
//
// Of micro-batches side by side it is the first one's backward pass of the last stage: then all
// have been through the forward passes, and each holds, runs again or loads the same. What the last
// stage reads and makes is counted for that one alone. Where weights take turns, those of a stage
// for its backward pass are there already or are loaded afterwards, but for the last stage with
// weights, whose run goes on.
#pragma once

#include <cstdint>
#include <vector>

#include "fates/choices.hpp"

namespace sluice {

/// What a second counts, by stage. Copies of boundary b + 1 count as those of stage b, the input's
/// as those of stage 0.
struct FateWeights {
  std::vector<double> forward, save, backward, load;
  double again = 1;               ///< of a forward pass after the turning point
  std::vector<double> turn = {};  ///< of the load of weights for the backward pass; empty: nothing

  /// Everything in turns: every second counts.
  static FateWeights serial(std::size_t stages);
};

class FateRelaxation {
 public:
  FateRelaxation(const Chain& chain, std::int64_t budget);

  /// Whether the turning point itself fits.
  bool fits() const { return room_ >= 0; }

  /// A price of a byte above which nothing is kept.
  double steepest() const { return steepest_; }

  /// What is best at a price (seconds a byte).
  struct Solution {
    double value = 0;  ///< seconds, less the price of the room: a lower bound
    double bytes = 0;  ///< kept beyond the room
    Choices choices;
  };
  Solution at(const FateWeights& weights, double price) const;

  /// The greatest bound over all prices: between what keeps more than the room and what does not,
  /// whose prices differ little.
  struct Best {
    double value = 0, price = 0;
    Solution more, less;
    /// The share of `less` with which both together fill the room.
    double share() const;
  };
  Best best(const FateWeights& weights) const;

 private:
  const Chain& chain_;
  std::size_t n_;
  double room_ = 0;
  double steepest_ = 0;
};

}  // namespace sluice
