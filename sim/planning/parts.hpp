// Code that several policies share. It reads the parameters that they have in common, computes the sizes of stages for
// one micro-batch, and lists the actions of one micro-batch in one stage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planning/request.hpp"
#include "planning/slots.hpp"

namespace sluice {

/// Returns the parameters that several policies have in common: `device`, `overlap`, `buffers` and `outputs`.
std::vector<Field> common_parameters();

/// The usual number of buffers: one buffer for the micro-batch that is computed, and one for a transfer.
inline constexpr std::int64_t usual_buffers = 2;

/// The values of the common parameters. `buffers` is 1 without overlap, and `usual_buffers` for the value `auto`.
struct CommonParameters {
  const Device& device;
  std::string host;
  bool overlap;
  std::int64_t buffers;
  bool return_outputs;
};
CommonParameters read_common(const PolicyRequest& request, const Reader& parameters);

/// A scenario may leave open how many micro-batches are in flight. Returns the numbers that are tried then. Each number
/// leads to a number of passes over the model. If several numbers lead to equally many passes, only the least of them
/// is returned. The first number leads to one pass, and the last number to one pass per micro-batch. From one number to
/// the next, the number of passes grows by a factor of about 1 + 1 / `growth`.
std::vector<std::int64_t> in_flight_choices(std::int64_t micro_batches, std::int64_t growth);

/// A round: the smallest number of micro-batches after which the actions of the plan repeat. The body of the plan is
/// one round, and a step consists of whole rounds.
struct Round {
  std::int64_t micro_batches = 1;
  std::int64_t per_step = 1;  ///< rounds per step
};
/// Returns the shortest round that has at least `at_least` micro-batches and divides a step. If there is no such round,
/// the round is the whole step.
Round round_of(const Workload& workload, std::int64_t at_least = 1);
/// The largest number of micro-batches in a round. Policies do not try candidates whose shortest round is longer.
inline constexpr std::int64_t longest_round = 4096;

/// Adds the tensors that host memory holds during the whole run: the inputs of a step, and with `answers` also the
/// answers of a step.
void hold_step(PlanBuilder& builder, const PolicyRequest& request, const std::string& host,
               bool answers);

/// Returns the plan for all rounds of the run. The body of the builder must be one round.
Plan finish_rounds(PlanBuilder& builder, const Workload& workload, const Round& round);

/// Throws InputError at the first of `keys` that the scenario has. The message says that the key is for inference, and
/// ends with `reason`.
void refuse_in_training(const Reader& parameters, const std::vector<const char*>& keys,
                        const std::string& reason);
/// For a scenario of training: throws InputError if it has the key `buffers` or `outputs`. These keys have no meaning
/// in training.
void refuse_common_in_training(const Reader& parameters);

/// The bytes of a stage for one micro-batch.
struct StageBytes {
  std::int64_t weights, input, output, workspace;
  /// The bytes of the stage's part of the answer, if no later stage reads this part. The part then leaves the device at
  /// once. For the last stage, `answer` is 0, because its part of the answer is its `output`.
  std::int64_t answer = 0;
};
std::vector<StageBytes> stage_bytes(const PolicyRequest& request);

/// The forward pass of one micro-batch through one stage, on one device.
struct ForwardPass {
  std::size_t stage = 0;
  std::int64_t micro_batch = 0;
  std::string device;
  StageBytes bytes{};
  std::int64_t samples = 0;
  std::uint32_t output = none;  ///< the tensor that the stage makes
  /// Whether the output is freed instead of saved. Only the output of the last stage may be freed. Because no save
  /// follows, the samples are done when the pass ends.
  bool drops_output = false;
  /// A stage may make a part of the answer besides its output (StageBytes::answer). Says whether this part is freed
  /// instead of saved.
  bool drops_answer = false;
  bool last = false;      ///< whether the stage is the last stage
  std::string home = {};  ///< the node that is the home of the answer; may be empty
};
/// Lists the computation of a forward pass. The action allocates the output and the workspace. The caller adds the
/// input and the weights to the action's operands.
PlanBuilder::Ref list_forward(PlanBuilder& builder, const ForwardPass& forward);

/// A computation of a stage, and the tensors that it makes.
struct StageOutput {
  PlanBuilder::Ref action;
  std::uint32_t output = none;
  std::uint32_t answer = none;  ///< the stage's part of the answer, if it is a separate tensor
};
/// Adds the output's tensor, and lists the computation of the forward pass, which uses `input`. The output of the last
/// stage is the answer. The output of any other stage is the activation at the boundary after the stage.
StageOutput list_stage(PlanBuilder& builder, ForwardPass forward, std::uint32_t input);

/// Lists the transfer that saves `tensor` to `host`. The pass `forward` has made this tensor. If it is the activation
/// at a boundary, the transfer allocates room in host memory. If it is an answer, host memory has room for it during
/// the whole run, and its samples are done when it arrives.
PlanBuilder::Ref list_save(PlanBuilder& builder, std::uint32_t tensor, const ForwardPass& forward,
                           const std::string& host, bool answer);

/// Lists in the prologue the loads of the weights of all stages, each to the device of its stage. Returns these loads,
/// indexed by stage. For a stage without weights, the element is empty.
std::vector<PlanBuilder::Ref> list_weights(PlanBuilder& builder,
                                           const std::vector<StageBytes>& bytes,
                                           const std::vector<std::string>& devices,
                                           const std::string& host);

/// These two functions return the bytes of caches of keys and values. The first function is for one stage and `samples`
/// samples. The second function is for all stages and all samples of a step. A cache is never moved: the device that
/// reads it holds it during the whole run.
std::int64_t cache_bytes(const Stage& stage, std::int64_t samples);
std::int64_t cache_bytes(const PolicyRequest& request);
/// Adds the caches of all stages for all samples of a step. The device of each stage holds the cache of the stage.
void hold_caches(PlanBuilder& builder, const PolicyRequest& request,
                 const std::vector<std::string>& devices);

/// Lists computations and saves of one device, and remembers the actions for which later actions must wait.
class StageRunner {
 public:
  /// The body of the plan is a whole step. Each input and each answer of the step has a place of its own in host
  /// memory. `bytes` has the sizes of the stages.
  StageRunner(PlanBuilder& builder, const PolicyRequest& request, const CommonParameters& common,
              std::vector<StageBytes> bytes);

  /// Lists the loads of all weights in the prologue. The weights then stay on the device. Returns these loads, indexed
  /// by stage.
  std::vector<PlanBuilder::Ref> load_all_weights();

  /// Adds the caches of all stages. The device holds them during the whole run.
  void hold_caches();

  /// Returns the load that brings a micro-batch's input from host memory. The slot with the number `slot` needs the
  /// input.
  SlotLoad input_load(std::int64_t micro_batch, std::int64_t slot);

  /// Lists the forward pass of one stage with list_stage().
  StageOutput forward(std::size_t stage, std::int64_t micro_batch, std::uint32_t input);

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
