#include "planning/forward_program.hpp"

#include <algorithm>
#include <utility>

#include "base/interrupt.hpp"
#include "planning/builder.hpp"
#include "planning/placement/computing_devices.hpp"
#include "planning/program_draft.hpp"
#include "planning/stage_bytes.hpp"
#include "stage/stage_inputs.hpp"

namespace sluice {

namespace {

class ForwardMaker {
 public:
  ForwardMaker(const PolicyRequest& request, const ForwardShape& shape)
      : request_(request),
        shape_(shape),
        bytes_(stage_bytes(request)),
        inputs_(stage_inputs(request.pricing.model, request.pricing.stages)),
        tensors_(tensors_of_stages(inputs_, bytes_.size())),
        draft_(each_once(shape.devices)) {
    for (const std::string& device : shape.devices) {
      const std::vector<std::string>& all = draft_.program.devices;
      device_of_.push_back(
          static_cast<std::uint32_t>(std::find(all.begin(), all.end(), device) - all.begin()));
    }
  }

  Program make() {
    add_places();
    for (std::int64_t m = 0; m < shape_.round.micro_batches; ++m) {
      held_.assign(inputs_.size(), {});
      for (std::size_t s = 0; s < bytes_.size(); ++s) add_stage(s, m);
      draft_.end_phase();
    }
    Program& program = draft_.program;
    program.answer_buffers = shape_.buffers;
    draft_.repeat(request_.workload, shape_.round);
    place_loads();
    return std::move(program);
  }

 private:
  const std::vector<Stage>& stages() const { return request_.pricing.stages; }
  bool is_last(std::size_t s) const { return s + 1 == bytes_.size(); }

  /// Adds the tensors that are in one memory during the whole run. The weights, the inputs of a step and the answers of
  /// a step are in host memory. A cache of keys and values is on the device that reads it.
  void add_places() {
    draft_.hold_step(request_, shape_.return_outputs);
    for (std::size_t s = 0; s < bytes_.size(); ++s) {
      draft_.hold_cache(request_, s, request_.workload.samples_per_step(), shape_.devices[s]);
      draft_.program.staying.push_back({.device = device_of_[s], .weights = bytes_[s].weights});
      draft_.hold_weights(s, bytes_[s].weights);
    }
  }

  void add_stage(std::size_t s, std::int64_t m) {
    check_interrupt();
    draft_.go_to(device_of_[s]);
    Program::Operation operation = draft_.operation(ActionKind::forward, s);
    operation.micro_batch = static_cast<std::int32_t>(m);
    operation.workspace = bytes_[s].workspace;
    for (const std::size_t i : tensors_[s].reads) read(operation, i, s, m);
    for (const std::size_t i : tensors_[s].makes) {
      const std::uint32_t made = draft_.make(inputs_[i], request_.workload.micro_batch, s, m);
      operation.makes.push_back(made);
      held_[i] = {made};
    }
    if (is_last(s)) answer(operation, s, m);
    draft_.add(std::move(operation));
    if (is_last(s) && shape_.return_outputs)
      draft_.save_answer(draft_.program.operations.back().makes.back());
  }

  /// Makes stage s read an output of an earlier stage, or an input of the model. If this tensor is not yet on the
  /// stage's device, a transfer brings it there.
  void read(Program::Operation& operation, std::size_t i, std::size_t s, std::int64_t m) {
    std::vector<std::uint32_t>& held = held_[i];
    const auto here = std::ranges::find(
        held, draft_.device(), [&](std::uint32_t instance) { return draft_[instance].device; });
    if (here != held.end()) return draft_.use(operation, *here);
    if (held.empty()) {
      held.push_back(draft_.make(inputs_[i], request_.workload.micro_batch, s, m));
      draft_.bring(held.back(), 0, Program::Home::none);
    } else {
      held.push_back(draft_.send(request_.pricing.platform, held, s));
    }
    operation.loads.push_back(held.back());
    draft_.use(operation, held.back());
  }

  void answer(Program::Operation& operation, std::size_t s, std::int64_t m) {
    const std::uint32_t output =
        draft_.make("output." + std::to_string(m), TensorClass::output, bytes_[s].output, s, m);
    operation.makes.push_back(output);
    operation.ends_micro_batch = !shape_.return_outputs;
  }

  /// Says when each load may start. A tensor that one device sends to another device is sent as soon as it has been
  /// made. An input needs a buffer. A micro-batch frees its buffer when it has left the last stage. Then the input of
  /// the micro-batch that comes `buffers` micro-batches later may be loaded.
  void place_loads() {
    Program& program = draft_.program;
    program.loads = loads_when_needed(program);
    const auto per_micro_batch = static_cast<std::int64_t>(bytes_.size());
    for (Program::Load& load : program.loads) {
      const Program::Instance& instance = program.instances[load.instance];
      if (instance.sent) {
        load.after = program.instances[instance.copy_of].first;
        continue;
      }
      load.earliest -= shape_.inputs_ahead * per_micro_batch;
      load.after = (instance.micro_batch - shape_.buffers + 1) * per_micro_batch - 1;
    }
  }

  const PolicyRequest& request_;
  const ForwardShape& shape_;
  std::vector<StageBytes> bytes_;
  std::vector<StageInput> inputs_;
  std::vector<StageTensors> tensors_;  ///< indexed by stage
  ProgramDraft draft_;
  std::vector<std::uint32_t> device_of_;  ///< indexed by stage
  /// The instances of the current micro-batch, indexed like `inputs_`, in the order in which they came to their
  /// devices.
  std::vector<std::vector<std::uint32_t>> held_;
};

}  // namespace

Program forward_program(const PolicyRequest& request, const ForwardShape& shape) {
  refuse_long_round(shape.round.micro_batches, request.pricing.stages.size());
  return ForwardMaker(request, shape).make();
}

}  // namespace sluice
