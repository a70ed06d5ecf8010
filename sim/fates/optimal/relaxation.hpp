// Finds the best fates for a simpler problem: the tensors of a chain must fit into memory at the turning point only.
// The turning point is the backward pass of the last stage. The tensors that this pass reads and makes are on the
// device. Later backward passes read other tensors. For each of these tensors, there are three choices: it is on the
// device, its stage runs again afterwards, or it is loaded afterwards. A loaded tensor was saved before, except the
// input. If a stage runs again, its input has the same three choices. So the problem is to find a sequence of choices
// with one constraint on the bytes. For each price of a byte, the Lagrangian relaxation of this problem is solved
// exactly. Every price gives a lower bound (bound.hpp). The choices at this price are starting points of a search
// (search.hpp). The relaxation ignores three things. It ignores memory at all other moments. It ignores third runs of
// a stage. In a chain that branches, it ignores some reads of stages that run again: the reads from stages before the
// previous stage. The value is a lower bound all the same.
//
// For micro-batches side by side, the turning point is the backward pass of the first micro-batch through the last
// stage. At this moment, all micro-batches have finished their forward passes. The same tensors are held, made again
// and loaded for each micro-batch. The tensors that the last stage reads and makes count for one micro-batch only. If
// weights take turns, the backward pass of a stage needs the stage's weights. They are on the device at the turning
// point, or they are loaded afterwards. The last stage with weights is an exception: its run continues.
#pragma once

#include <cstdint>
#include <vector>

#include "fates/choices.hpp"

namespace sluice {

/// The weights by which the seconds of each stage are multiplied. Copies of boundary b + 1 have the weight of stage
/// b. Copies of the input have the weight of stage 0.
struct FateWeights {
  std::vector<double> forward, save, backward, load;
  double again = 1;               ///< the weight of forward passes that run again
  std::vector<double> turn = {};  ///< the weight of loads of weights that take turns; may be empty

  /// Returns the weights of seconds for a run in which all operations take turns. All of these weights are 1.
  static FateWeights serial(std::size_t stages);
};

/// Says which boundaries are read, and when.
struct BoundaryReads {
  std::vector<char> later;    ///< for each boundary, whether a backward pass reads it
  std::vector<char> follows;  ///< for each stage s, whether it reads boundary s
  /// Whether the backward pass of the last stage reads the stage's input.
  bool last = false;
};

class FateRelaxation {
 public:
  FateRelaxation(const Chain& chain, std::int64_t budget);

  /// Returns whether memory has room for the tensors that the turning point needs.
  bool fits() const { return room_ >= 0; }

  /// Returns a price of a byte above which no tensor is kept.
  double steepest() const { return steepest_; }

  /// The best choices at a price (seconds per byte).
  struct Solution {
    /// A lower bound on the seconds: the cost of the choices minus `price` x the bytes of the room.
    double value = 0;
    double bytes = 0;  ///< the bytes that are kept, minus the bytes of the room
    Choices choices;
  };
  Solution at(const FateWeights& weights, double price) const;

  /// The greatest bound over all prices. At the price with this bound, two solutions cost almost the same. The kept
  /// bytes of `more` do not fit into the room. The kept bytes of `less` fit.
  struct BestBound {
    double value = 0, price = 0;
    Solution more, less;
    /// Returns the share of `less` in the mixture of `more` and `less` that fills the room exactly.
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
