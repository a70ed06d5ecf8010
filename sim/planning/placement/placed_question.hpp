// The problem of placing the tensors of a policy's run in two memories: the kernels of the run, its answers, and the
// bytes of fast memory that the tensors may occupy. The other bytes of fast memory are room for one input and one
// answer in transfer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "fates/strategy.hpp"
#include "placement/ways.hpp"
#include "planning/common_parameters.hpp"
#include "planning/placement/kernels.hpp"

namespace sluice {

/// Returns the fates of the scenario's strategy. A strategy that searches chooses fates that fit into the device's
/// first memory. If there are none, it searches as if this memory had no limit. All other strategies always choose
/// without a limit. In inference, the tape of the result is empty.
FateChoice placed_fates(const PolicyRequest& request, const CommonParameters& common);

/// Returns the fates for the placement method `cached`. If slow memory is host memory, offloaded tensors are already
/// there, and their addresses do not change. So the tape then has no saves and no loads.
FateChoice fates_behind_cache(FateChoice fates, const PolicyRequest& request,
                              const CommonParameters& common);

class PlacedQuestion {
 public:
  /// Which kinds of tensors must be in slow memory. An input or an answer in transfer needs room in fast memory, unless
  /// it must be in slow memory. Then other tensors get this room.
  struct SlowOnlyKinds {
    bool inputs = false, answers = false, weights = false;
  };

  /// `fates` must be the result of placed_fates() for this request. Throws InputError if there are fewer than two
  /// memories, or if the cost model has no price. Throws Infeasible if there are too many passes of layers.
  PlacedQuestion(const PolicyRequest& request, const CommonParameters& common,
                 const FateChoice& fates, const std::string& policy, SlowOnlyKinds slow_only);

  const TwoMemories& memories() const { return memories_; }
  const std::vector<PlacedKernel>& kernels() const { return work_.kernels; }
  /// The problem of one round of kernels. It allows only moves that a run can repeat in each round: tensors that are
  /// there at the start move only if they are in slow memory then.
  const PlacementQuestion& question() const { return question_; }
  /// If `t` is a tensor that was loaded again after offloading, returns the tensor that was saved. Otherwise returns
  /// `none`.
  std::uint32_t copy_of(std::uint32_t t) const { return work_.copy_of[t]; }
  /// Returns whether tensors are offloaded to host memory and loaded again.
  bool offloads() const {
    return std::ranges::any_of(work_.copy_of, [](auto t) { return t != none; });
  }
  const std::vector<Fact>& facts_of_fates() const { return facts_; }
  /// Returns the number of micro-batches in a round: after a round, the kernels and their placement repeat.
  std::int64_t micro_batches() const { return micro_batches_; }
  /// Returns the number of rounds of a run.
  std::int64_t rounds() const { return rounds_; }
  /// Returns whether the tensor is an answer. In inference, an answer is an output that no layer reads. In training,
  /// there is no answer.
  bool is_answer(std::uint32_t t) const { return answers_[t] != 0; }
  bool has_inputs() const { return input_bytes_ > 0; }
  bool has_answers() const { return answer_bytes_ > 0; }
  bool has_weights() const;
  /// Returns the bytes of fast memory that the placed tensors may occupy. The number is negative if the input and the
  /// answer in transfer do not fit into fast memory.
  std::int64_t room() const { return room_; }

 private:
  TwoMemories memories_;
  std::int64_t micro_batches_;
  std::vector<Fact> facts_;  ///< the facts of the fates
  PlacedKernels work_;
  std::vector<char> answers_;  ///< indexed by tensor
  std::int64_t input_bytes_ = 0, answer_bytes_ = 0;
  PlacementQuestion question_;
  std::int64_t rounds_ = 1, room_ = 0;
};

}  // namespace sluice
