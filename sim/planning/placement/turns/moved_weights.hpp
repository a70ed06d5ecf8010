// Moves of weights from the second memory to the first memory of a device. In a run of a stage on a device, several computations
// of the stage follow each other and use the same weights, for example because several micro-batches go through the
// stage. Without moves, each of them reads the weights in the memory of their placement. With moves, weights in the
// second memory are copied to the first memory before each run, and the run reads the copy. After the run, the copy is
// freed. Updates read and write the weights in the second memory.
//
// Moves do not change when weights are loaded from host memory, nor the memory that the loads reserve.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "planning/placement/turns/placed_kinds.hpp"

namespace sluice {

class MovedWeights {
 public:
  /// Both arguments must outlive the object. Throws InputError if no links connect the two memories.
  MovedWeights(PlacedPrices& prices, const PlacedKinds& placed);

  /// Returns the weights of which `slow` has the kinds, and which have runs.
  TensorKinds movable(const TensorKinds& slow) const;
  /// Returns those of them whose synchronous moves take less time than they save.
  TensorKinds worth_moving(const TensorKinds& slow) const;

  /// Returns a lower bound of the seconds of the plan with_moves().
  double at_least(const TensorKinds& slow, const TensorKinds& moved, CopyMode mode) const;

  /// Returns `plan`, which must be placed.plan(slow) up to its facts, with moves of the kinds in `moved`, which must be
  /// in `slow`. With CopyMode::synchronous, a move waits for everything for which its run waits, and nothing is
  /// computed during the move. With CopyMode::asynchronous, a move may begin when the weights have arrived, the last
  /// update before the run has ended, and the previous run has begun.
  Plan with_moves(Plan plan, const TensorKinds& slow, const TensorKinds& moved,
                  CopyMode mode) const;

 private:
  /// A run of a stage in the body of the plan.
  struct Run {
    std::int32_t stage = 0;
    std::size_t device = 0;                   ///< its index in PlacedPrices::devices()
    std::vector<std::uint32_t> computations;  ///< indices of actions
    /// A tensor of the weights. `listed` says whether the plan lists the tensor among the operands of any computation
    /// of the run. `used_before` is the last computation before the run that uses the tensor, perhaps in the previous
    /// round.
    struct Weights {
      std::uint32_t tensor = none;
      bool listed = true;
      Wait used_before = {none, 0};
    };
    std::vector<Weights> weights;

    /// Returns whether the computation of the run `next` belongs to this run. If so, notes which weights it lists.
    bool continues_with(const Run& next);
    TensorKind kind() const { return {TensorClass::weight, stage}; }
  };
  class Rewriter;

  /// How often each computation is in a round, which is an iteration of the body.
  using Works = std::map<StageWork, std::int64_t>;
  /// All runs of a stage on a device in a round, and the seconds of their moves.
  struct StageRuns {
    Works works;
    double synchronous_s = 0, asynchronous_s = 0;
  };

  std::size_t device_of(const Action& action) const;
  void find_runs();
  void count(const Run& run);
  double seconds_of(const Works& works, const TensorKinds& slow) const;

  PlacedPrices& prices_;
  const PlacedKinds& placed_;
  std::vector<Run> runs_;
  std::map<TensorKind, std::vector<StageRuns>>
      stages_;                               ///< by the kind of the weights and by device
  std::vector<std::uint32_t> computations_;  ///< all computations of the body
  std::vector<Works> works_;                 ///< of all computations of the body, by device
};

}  // namespace sluice
