// Code that several policies share. It reads their common parameters, computes the sizes of stages for one
// micro-batch, and lists the actions of one micro-batch in one stage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planning/request.hpp"
#include "planning/slots.hpp"

namespace sluice {

/// Returns the fields `device`, `overlap`, `buffers` and `outputs`.
std::vector<Field> common_parameters();

/// The usual number of buffers: one for the computation, and one for a transfer.
inline constexpr std::int64_t usual_buffers = 2;

/// The values of the common parameters. Without overlap there is one buffer. `auto` means `usual_buffers` buffers.
struct CommonParameters {
  const Device& device;
  std::string host;
  bool overlap;
  std::int64_t buffers;
  bool return_outputs;
};
CommonParameters read_common(const PolicyRequest& request, const Reader& parameters);

/// Returns the numbers of micro-batches in flight that are tried if the scenario leaves the number open. Each of them
/// gives another number of passes over the model. If several numbers give equally many passes, the least of them is
/// returned. The first returned number gives a single pass, the last number one pass per micro-batch. From one number
/// to the next, the passes grow by a factor of about 1 + 1 / `growth`.
std::vector<std::int64_t> in_flight_choices(std::int64_t micro_batches, std::int64_t growth);

/// The body of the plan is one round. A round is the smallest number of micro-batches after which the actions of the
/// plan repeat. A step consists of whole rounds.
struct Round {
  std::int64_t micro_batches = 1;
  std::int64_t per_step = 1;  ///< rounds per step
};
/// Returns the shortest round of at least this many micro-batches that divides a step. If there is none, returns the
/// whole step.
Round round_of(const Workload& workload, std::int64_t at_least = 1);
/// The greatest number of micro-batches of a round. Policies do not try candidates whose shortest round is longer.
inline constexpr std::int64_t longest_round = 4096;

/// Makes host memory hold the inputs of a step. With `answers`, host memory also holds the answers of the step.
void hold_step(PlanBuilder& builder, const PolicyRequest& request, const std::string& host,
               bool answers);

/// Returns the plan of all rounds, from a builder whose body is one round.
Plan finish_rounds(PlanBuilder& builder, const Workload& workload, const Round& round);

/// Throws InputError at the first of these keys that the scenario has. The message says that the
/// key has no meaning in training, and ends with `reason`.
void refuse_in_training(const Reader& parameters, const std::vector<const char*>& keys,
                        const std::string& reason);
/// Throws InputError if the scenario has the key `buffers` or `outputs`. These keys have no meaning in training.
void refuse_common_in_training(const Reader& parameters);

/// Bytes of a stage for one micro-batch.
struct StageBytes {
  std::int64_t weights, input, output, workspace;
  /// The stage's part of the answer, if no later stage reads it. This part leaves the device at once. For the last
  /// stage, `answer` is 0: its part of the answer is its `output`.
  std::int64_t answer = 0;
};
std::vector<StageBytes> stage_bytes(const PolicyRequest& request);

/// The run of one micro-batch through one stage on one device.
struct ForwardPass {
  std::size_t stage = 0;
  std::int64_t micro_batch = 0;
  std::string device;
  StageBytes bytes{};
  std::int64_t samples = 0;
  std::uint32_t output = none;  ///< the tensor that the stage makes
  /// Whether the last stage's output is freed instead of saved. Its samples are done when the pass ends.
  bool drops_output = false;
  /// Whether `bytes.answer` is freed instead of saved. It is a part of the answer and not the stage's output.
  bool drops_answer = false;
  std::string suffix = {};  ///< a suffix that distinguishes the workspaces of different windows
  bool last = false;        ///< whether the stage is the last stage
  std::string home = {};    ///< the node that is the home of the answer; may be empty
};
/// Lists the action of the pass. The action allocates the output and the workspace. The caller adds input and weights.
PlanBuilder::Ref list_forward(PlanBuilder& builder, const ForwardPass& forward);

/// An action that computes a stage, and the tensors that it makes.
struct StageOutput {
  PlanBuilder::Ref action;
  std::uint32_t output = none;
  std::uint32_t answer = none;  ///< the stage's part of the answer, if it is a separate tensor
};
/// Lists the forward pass and makes its output. The output is the boundary activation of its stage. For the last
/// stage, it is the answer. The action uses `input`.
StageOutput list_stage(PlanBuilder& builder, ForwardPass forward, std::uint32_t input);

/// Lists the transfer that saves `tensor` to `host`. The pass `forward` has made this tensor. For a boundary
/// activation, the transfer allocates room in host memory. For an answer, host memory has room during the whole run.
/// The samples of the answer are done when it arrives.
PlanBuilder::Ref list_save(PlanBuilder& builder, std::uint32_t tensor, const ForwardPass& forward,
                           const std::string& host, bool answer);

/// Lists the loads of all weights in the prologue, each to the device of its stage. Returns these loads, indexed by
/// stage. The element of a stage without weights is empty.
std::vector<PlanBuilder::Ref> list_weights(PlanBuilder& builder,
                                           const std::vector<StageBytes>& bytes,
                                           const std::vector<std::string>& devices,
                                           const std::string& host);

/// Both functions return the bytes of caches of keys and values. The first function is for one stage and `samples`
/// samples. The second function is for all stages and all samples of a step. A cache never moves: the device that reads
/// the cache holds it during the whole run.
std::int64_t cache_bytes(const Stage& stage, std::int64_t samples);
std::int64_t cache_bytes(const PolicyRequest& request);
/// Makes `device` hold the cache of a stage.
void hold_cache(PlanBuilder& builder, const PolicyRequest& request, std::size_t stage,
                std::int64_t samples, const std::string& device);
/// Makes the device of each stage hold the stage's cache for all samples of a step.
void hold_caches(PlanBuilder& builder, const PolicyRequest& request,
                 const std::vector<std::string>& devices);

/// Lists computations and saves of one device, and records the actions for which later actions wait.
class StageRunner {
 public:
  /// The body is a whole step. Each input and each answer of the step has its own place in host memory. `bytes` holds
  /// the sizes of the stages.
  StageRunner(PlanBuilder& builder, const PolicyRequest& request, const CommonParameters& common,
              std::vector<StageBytes> bytes);

  /// Lists loads of all weights in the prologue. The weights stay on the device. Returns the loads, indexed by stage.
  std::vector<PlanBuilder::Ref> load_all_weights();

  /// Makes the device hold the caches of all stages.
  void hold_caches();

  /// Returns the load of a micro-batch's input from its home, the host. The slot `slot` needs this load.
  SlotLoad input_load(std::int64_t micro_batch, std::int64_t slot);

  /// Lists the forward pass of one stage with list_stage().
  StageOutput forward(std::size_t stage, std::int64_t micro_batch, std::uint32_t input);

  /// Saves the output of a stage after the action that makes it. If the stage's part of the answer is a separate
  /// tensor, saves this part instead. `answer` says whether the output is an answer, which no later stage reads. At
  /// most `buffers` results may wait to be saved. So result n is made only after the save of result n - `buffers`.
  PlanBuilder::Ref save(const StageOutput& made, std::size_t stage, std::int64_t micro_batch,
                        bool answer);

  /// Adds the waits of computations for earlier saves. Must be called once, after all computations and saves have been
  /// listed.
  void finish();
  /// Adds the waits of computations for earlier saves, with a limit of its own for each save. Element i of `buffers`
  /// says how many results may wait to be saved when save i is listed.
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
  /// Pairs of the action that makes a result and the save of this result, in listing order.
  std::vector<std::pair<PlanBuilder::Ref, PlanBuilder::Ref>> saves_;
};

}  // namespace sluice
