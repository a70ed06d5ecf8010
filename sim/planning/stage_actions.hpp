// Lists the actions of one micro-batch in one stage, and adds the tensors that stay during the whole run. Several
// policies share this code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planning/builder.hpp"
#include "planning/stage_bytes.hpp"
#include "workload/rounds.hpp"

namespace sluice {

/// Adds the tensors that host memory holds during the whole run: the inputs of a step, and with `answers` also the
/// answers of a step.
void hold_step(PlanBuilder& builder, const PolicyRequest& request, const std::string& host,
               bool answers);

/// Returns the plan for all rounds of the run. The body of the builder must be one round.
Plan finish_rounds(PlanBuilder& builder, const Workload& workload, const Round& round);

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
  bool last = false;      ///< whether the stage is the last stage
  std::string home = {};  ///< the node that is the home of the answer; may be empty
};
/// Lists the computation of a forward pass. The action allocates the output and the workspace. The caller adds the
/// input and the weights to the action's operands.
PlanBuilder::Ref list_forward(PlanBuilder& builder, const ForwardPass& forward);

/// A computation of a stage, and the tensor that it makes.
struct StageOutput {
  PlanBuilder::Ref action;
  std::uint32_t output = none;
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

/// Adds the caches of all stages for all samples of a step. The device of each stage holds the cache of the stage.
void hold_caches(PlanBuilder& builder, const PolicyRequest& request,
                 const std::vector<std::string>& devices);

}  // namespace sluice
