#include "planning/weights_stay.hpp"

#include <algorithm>

#include "planning/forward_program.hpp"
#include "planning/program_listing.hpp"
#include "planning/stage_bytes.hpp"
#include "workload/rounds.hpp"

namespace sluice {

namespace {

/// Returns how many inputs may be on the device besides the input of the running computation. Usually, this is the
/// number of buffers minus 1. If the memory has too little room for that, it is the number that fits.
std::int64_t inputs_ahead(const PolicyRequest& request, const CommonParameters& common,
                          ForwardShape shape) {
  const std::int64_t most = common.buffers - 1, input = stage_bytes(request).front().input;
  if (!request.capacity_enforced || !common.device.memory().capacity || input == 0) return most;
  shape.round = {};
  const std::int64_t room =
      *common.device.memory().capacity - forward_program(request, shape).peak();
  return std::min(most, std::max<std::int64_t>(0, room) / input);
}

}  // namespace

std::vector<Stage> held_once(std::vector<Stage> stages) {
  for (Stage& stage : stages) {
    stage.weight_bytes -= stage.tied_bytes;
    stage.tied_bytes = 0;
  }
  return stages;
}

PolicyRequest with_stages(const PolicyRequest& request, const std::vector<Stage>& stages) {
  return request.priced(request.pricing.of(stages));
}

Draft inference_with_weights(const PolicyRequest& request, const CommonParameters& common,
                             const std::string& policy) {
  ForwardShape shape{
      .devices = std::vector<std::string>(request.pricing.stages.size(), common.device.name),
      .return_outputs = common.return_outputs,
      .buffers = common.buffers};
  shape.inputs_ahead = inputs_ahead(request, common, shape);
  shape.round = round_of(request.workload, shape.inputs_ahead);
  const Program program = forward_program(request, shape);
  Draft draft = list_program(
      {.request = request, .program = program, .name = policy, .overlap = common.overlap});
  draft.decisions = no_decisions;
  return draft;
}

std::vector<Value> alternatives_of_buffers(const PolicyRequest& request, const Reader& parameters) {
  const bool open = !parameters.has("buffers") || parameters.is_word("buffers", "auto");
  if (!open || !parameters.boolean("overlap")) return {};
  std::vector<Value> maps;
  for (const std::int64_t buffers : {2, 4, 1}) {
    if (buffers > usual_buffers &&
        round_of(request.workload, buffers - 1).micro_batches > longest_round)
      continue;
    maps.push_back(parameters.map());
    maps.back().set("buffers", Value::make(buffers));
  }
  return maps;
}

}  // namespace sluice
