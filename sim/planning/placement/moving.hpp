// Tensors that move between the two memories in a run, and the memory in which each use finds its tensor. The search
// for a placement knows only one round of kernels. But a run repeats this round again and again. It also loads inputs
// and offloads activations.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "placement/schedule.hpp"
#include "planning/builder.hpp"
#include "planning/placement/placed_question.hpp"

namespace sluice {

/// The moves of a round as actions of the plan.
class MovingTensors {
 public:
  /// For each tensor of the problem: the tensor in the plan. The vectors are indexed by tensor of the problem.
  struct PlanTensors {
    /// The plan's first tensor for the tensor of the problem: in its home, or at its first use if it has no home. Moves
    /// may add further tensors to the plan, each for one stay in a memory.
    std::vector<std::uint32_t> number;
    /// Whether slow memory holds the tensor during the whole run.
    std::vector<char> held;
    std::map<std::uint32_t, PlanBuilder::Ref>
        loads;  ///< the action that brings the tensor to slow memory before the first round
  };
  /// The object ignores tensors without moves. The arguments must outlive the object.
  MovingTensors(const PlacedQuestion& asked, const PlacementSchedule& schedule,
                PlanBuilder& builder, const PlanTensors& tensors);

  bool moves(std::uint32_t t) const { return stays_.count(t) != 0; }
  /// Lists the moves that begin before kernel k.
  void list_before(std::uint32_t k);
  /// Makes `ref`, the action of kernel k, use the tensor t. The tensor t must have moves.
  void use(PlanBuilder::Ref ref, std::uint32_t k, std::uint32_t t, bool written);
  /// Makes `ref`, the action of kernel k, wait for the moves that must end before kernel k. `ref` must be the action
  /// that was listed last.
  void computes(PlanBuilder::Ref ref, std::uint32_t k);
  bool is_fast(std::uint32_t t, std::uint32_t k) const { return stay(t, k).fast; }
  std::uint32_t plan_tensor(std::uint32_t t, std::uint32_t k) const { return stay(t, k).number; }
  /// Lists the moves after the last kernel. Makes the next round's first moves wait for the end of this round.
  void end_round();

 private:
  /// The time for which a tensor is in one memory.
  struct Stay {
    std::uint32_t number = none;  ///< the tensor of the plan in this memory
    bool fast = false;
    bool home = false;             ///< whether slow memory holds the tensor during the whole run
    bool begins = false;           ///< whether the first use of this stay makes the tensor
    std::uint32_t made_by = none;  ///< the move with which the stay began
  };
  struct Ends {
    Stay from, to;
  };

  void follow(std::uint32_t t);
  std::uint32_t further(std::uint32_t t);
  const Stay& stay(std::uint32_t t, std::uint32_t k) const;
  void list(std::uint32_t m);
  ActionKind kind_of(const PlacementMove& move) const;
  void touch(PlanBuilder::Ref ref, std::uint32_t t, const Stay& stay, bool written = false);
  const std::string& node(const Stay& stay) const;

  const PlacedQuestion& asked_;
  const PlacementQuestion& question_;
  const PlacementSchedule& schedule_;
  PlanBuilder& builder_;
  const PlanTensors& tensors_;
  std::map<std::uint32_t, std::vector<Stay>> stays_;  ///< the stays, by tensor and use
  std::vector<Ends> ends_;                            ///< by move
  std::vector<PlanBuilder::Ref> refs_;                ///< by move
  /// For each kernel: the moves for which the kernel waits.
  std::map<std::uint32_t, std::vector<PlanBuilder::Ref>> arrive_;
  std::map<std::uint32_t, PlanBuilder::Ref> saved_home_;  ///< for each tensor: its last save to its home
  /// For each tensor: the actions that read it in its home before the first save of the round. In the next round, each
  /// of these actions waits for the last save of this round.
  std::map<std::uint32_t, std::vector<PlanBuilder::Ref>> before_save_;
  std::vector<PlanBuilder::Ref> first_;  ///< the moves of the copy engine before the first kernel
  PlanBuilder::Ref last_ = {};           ///< the last action of the compute units
  std::size_t next_ = 0;                 ///< the index of the move that is listed next
};

}  // namespace sluice
