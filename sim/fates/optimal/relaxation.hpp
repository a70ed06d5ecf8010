// The best fates of a chain's tensors if only one moment had to fit: the turning point, which is the first backward
// pass, that of the last stage. The tensors that this operation reads and makes are on the device. Any other tensor
// that a later backward pass reads is on the device too, or its stage runs again afterwards, or it is loaded afterwards
// (and was saved before, unless it is the input). A stage that runs again needs its input in one of the same three
// ways. This gives a sequence of choices with one constraint, the bytes; its Lagrangian relaxation is solved exactly
// for each price of a byte. Every price gives a lower bound (bound.hpp), and its choices are starting points of a
// search (search.hpp). It does not cover stages that run again twice, and it ignores memory at all other moments. If
// the chain branches, it also ignores that a stage that runs again may read outputs of stages further back than the
// stage before it. In spite of both, its value is a lower bound.
//
// For micro-batches side by side, the turning point is the backward pass of the first micro-batch through the last
// stage. By then all micro-batches have finished their forward passes, and for each of them the same tensors are held,
// made again or loaded. The tensors that the last stage reads and makes count for one micro-batch only. If weights take
// turns, the weights that a stage needs for its backward pass are already there or are loaded afterwards, except for
// the last stage with weights, whose run continues.
#pragma once

#include <cstdint>
#include <vector>

#include "fates/choices.hpp"

namespace sluice {

/// How much a second of each stage counts. Copies of boundary b + 1 have the weight of stage b, and copies of the input
/// have the weight of stage 0.
struct FateWeights {
  std::vector<double> forward, save, backward, load;
  double again = 1;               ///< weight of forward passes that run again
  std::vector<double> turn = {};  ///< weight of loads for the backward pass; empty: none

  /// Returns the weights for a run in which everything takes turns, so that every second counts.
  static FateWeights serial(std::size_t stages);
};

/// Which boundaries are read, and when.
struct BoundaryReads {
  std::vector<char> later;    ///< by boundary: a backward pass reads it
  std::vector<char> follows;  ///< by stage: it reads the boundary before it
  bool last = false;          ///< the backward pass of the last stage reads the boundary before it
};

class FateRelaxation {
 public:
  FateRelaxation(const Chain& chain, std::int64_t budget);

  /// Returns whether the tensors that must be on the device at the turning point fit.
  bool fits() const { return room_ >= 0; }

  /// Returns a price of a byte above which no tensor is kept.
  double steepest() const { return steepest_; }

  /// The best choices at a price (seconds per byte).
  struct Solution {
    double value = 0;  ///< seconds, minus the price of the room: a lower bound
    double bytes = 0;  ///< bytes kept beyond the room
    Choices choices;
  };
  Solution at(const FateWeights& weights, double price) const;

  /// The greatest bound over all prices. It lies between two choices whose prices are almost equal: one keeps more than
  /// fits into the room, and the other fits.
  struct BestBound {
    double value = 0, price = 0;
    Solution more, less;
    /// The share of `less` in the mixture of both that fills the room exactly.
    double share() const;
  };
  BestBound best(const FateWeights& weights) const;

 private:
  const Chain& chain_;
  std::size_t n_;
  BoundaryReads reads_;
  double room_ = 0;
  double steepest_ = 0;
};

}  // namespace sluice
