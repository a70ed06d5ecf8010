// Finds the best fates for a simpler problem: the tensors of a chain must fit into memory at the turning point only.
// The turning point is the backward pass of the last stage. The tensors that this pass reads and makes are on the
// device. Later backward passes read other tensors. For each of these tensors, there are three choices. The tensor is
// on the device at the turning point, or it is loaded afterwards, or the stage that makes it runs again afterwards. A
// loaded tensor was saved before, except the input. If a stage runs again, its input has the same three choices. So the
// problem is a sequence of choices with a single constraint, on the bytes at the turning point. If several devices take
// turns, backward passes on several devices may read the same boundary. Then each of these devices holds a copy of the
// boundary at the turning point, or loads it afterwards, because all tensors go through host memory. A stage that runs
// again makes the boundary on its own device only. The Lagrangian relaxation of this problem replaces the constraint by
// a price per byte. For each price, the relaxation is solved exactly and gives a lower bound (bound.hpp). The choices
// at a price are starting points of a search (search.hpp). The simpler problem ignores three things: the memory at all
// other moments, third runs of a stage, and some reads in a chain that branches. When a stage of such a chain runs
// again, only its read from the previous stage counts. Ignoring these things can only make the result of the relaxation
// smaller. So the result is still a lower bound.
//
// For micro-batches side by side, the turning point is the backward pass of the first micro-batch through the last
// stage. At this moment, all micro-batches have finished their forward passes, and all passes of the last stage that
// run again. Each micro-batch has the same fates. The tensors that the last stage reads and makes are certain to be on
// the device for one micro-batch only. For each other micro-batch, they are there, or are loaded afterwards. If weights
// take turns, the backward pass of a stage needs the stage's weights. These weights are on the device at the turning
// point, or are loaded afterwards. Only the last stage that has weights needs no such load. Its weights stay on the
// device from its forward passes to its backward passes, because no other stage with weights is executed in between.
#pragma once

#include <cstdint>
#include <vector>

#include "fates/choices.hpp"

namespace sluice {

/// The weights by which the seconds of each stage are multiplied. Copies of boundary b + 1 have the weight of stage
/// b. Copies of the input have the weight of stage 0.
struct FateWeights {
  std::vector<double> forward, save, backward, load;
  double again = 1;  ///< the weight of forward passes that run again
  /// Another factor for the copies of the last stage's tensors, if micro-batches run side by side. These copies do not
  /// count for the first micro-batch of a pass.
  double others = 1;
  std::vector<double> turn = {};  ///< the weight of loads of weights that take turns; may be empty
  /// The weighted seconds of what is handed over (ChainHandOver). They do not depend on fates, so the relaxation leaves
  /// them out.
  double handed_over_s = 0;

  /// Returns the weights for a run in which all operations take turns: all seconds have the weight 1.
  static FateWeights serial(std::size_t stages);
};

/// Says which passes read the boundaries of a chain after the turning point. If the backward pass of the last stage
/// reads the stage's input, the device of this stage has this input in any case, so its reads do not count.
struct BoundaryReads {
  /// For each boundary, whether a backward pass reads it on the device of the stage that makes it. Boundary 0 is made
  /// by no stage.
  std::vector<char> own;
  std::vector<std::uint32_t>
      others;  ///< for each boundary, the number of other devices whose backward passes read it
  std::vector<char>
      here;  ///< for each stage s, whether a backward pass on its device reads boundary s
  std::vector<char> follows;  ///< for each stage s, whether it reads boundary s
  bool last = false;  ///< whether the backward pass of the last stage reads the stage's input
};

/// What the relaxation counts at the turning point: which passes read the boundaries, and the bytes that are left for
/// the tensors of later backward passes.
struct TurningPoint {
  BoundaryReads reads = {};
  double room = 0;
};
TurningPoint turning_point(const Chain& chain, std::int64_t budget);

class FateRelaxation {
 public:
  FateRelaxation(const Chain& chain, std::int64_t budget);

  /// Returns whether the budget has room for the tensors that the backward pass of the last stage
  /// reads and makes.
  bool fits() const { return room_ >= 0; }

  /// Returns a price of a byte at which no tensor is kept, because its bytes would cost more than
  /// its recomputation.
  double steepest() const { return steepest_; }

  /// The best choices at a price (seconds per byte).
  struct Solution {
    /// A lower bound on the seconds: the cost of the choices, minus `price` x the available bytes.
    double value = 0;
    double bytes = 0;  ///< the bytes that are kept, minus the available bytes
    Choices choices;
    std::vector<std::uint32_t> loads;  ///< for each boundary, the number of devices that load it
  };

  /// The greatest bound over all prices. At the price with this bound, two solutions have almost the same cost: `more`
  /// keeps more bytes than are available, and `less` keeps at most as many.
  struct BestBound {
    double value = 0, price = 0;
    Solution more, less;
    /// Returns a share x from 0 to 1. If `less` has the weight x and `more` the weight 1 - x, the mean of their kept
    /// bytes equals the available bytes.
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

/// Solves the relaxation for tensors that are on the device as a whole or not at all. For a price of a byte,
/// FateRelaxation also allows a part of a tensor to be on the device. Returns a lower bound on the seconds of all plans
/// in which all micro-batches in flight have the same fates. Usually, it is at least FateRelaxation::best(). In a long
/// chain, bytes are rounded down, and it may be smaller. If the backward pass of the last stage does not fit, the bound
/// is infinite. `weights` must have no prices of weights that take turns.
double whole_tensors_bound(const Chain& chain, std::int64_t budget, const FateWeights& weights);

}  // namespace sluice
