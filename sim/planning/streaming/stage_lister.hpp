// Lists the computations of a streamed run, the saves of their results, and the waits for room for these results.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "planning/common_parameters.hpp"
#include "planning/slots/step_slots.hpp"
#include "planning/stage_actions.hpp"

namespace sluice {

/// Lists computations and saves of one device, and remembers the actions for which later actions must wait.
class StageLister {
 public:
  /// The body of the plan is a whole step. Each input and each answer of the step has a place of its own in host
  /// memory. `bytes` has the sizes of the stages.
  StageLister(PlanBuilder& builder, const PolicyRequest& request, const CommonParameters& common,
              std::vector<StageBytes> bytes);

  /// Adds the caches of all stages. The device holds them during the whole run.
  void hold_caches();

  /// Returns the load that brings a micro-batch's input from host memory. The slot with the number `slot` needs the
  /// input.
  SlotLoad input_load(std::int64_t micro_batch, std::int64_t slot);

  /// Lists the forward pass of one stage with list_stage(). The pass reads `reads` and makes `makes`. If `makes` is empty,
  /// the pass makes one tensor, which has the bytes of the stage's output.
  StageOutput forward(std::size_t stage, std::int64_t micro_batch,
                      const std::vector<std::uint32_t>& reads,
                      const std::vector<std::uint32_t>& makes);

  /// Lists the save of a stage's output, after the action that makes it. If the stage's part of the answer is a
  /// separate tensor, this part is saved instead. `answer` says whether the saved tensor is an answer or a part of it.
  /// At most `buffers` results may wait on the device until they are saved. So result n is made only after result
  /// n - `buffers` has been saved.
  PlanBuilder::Ref save(const StageOutput& made, std::size_t stage, std::int64_t micro_batch,
                        bool answer);

  /// Makes computations wait for earlier saves. Call this function once, after all computations and saves have been
  /// listed.
  void finish();
  /// Does the same with a number of buffers for each save. Element i of `buffers` says how many results may wait on the
  /// device when the result of save i is made.
  void finish(const std::vector<std::int64_t>& buffers);

  std::uint32_t input_tensor(std::int64_t micro_batch) const {
    return inputs_[static_cast<std::size_t>(micro_batch)];
  }

 private:
  ForwardPass forward_of(std::size_t stage, std::int64_t micro_batch) const;
  PlanBuilder& builder_;
  const PolicyRequest& request_;
  const CommonParameters& common_;
  std::vector<StageBytes> bytes_;
  std::vector<std::uint32_t> inputs_;
  /// For each save, in listing order: the action that makes the result, and the save of this result.
  std::vector<std::pair<PlanBuilder::Ref, PlanBuilder::Ref>> saves_;
};

}  // namespace sluice
