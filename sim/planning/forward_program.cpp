#include "planning/forward_program.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/interrupt.hpp"
#include "base/quantity.hpp"
#include "planning/builder.hpp"
#include "planning/placement/computing_devices.hpp"
#include "planning/program_draft.hpp"
#include "planning/stage_bytes.hpp"

namespace sluice {

namespace {

/// The tensors that a stage gets from other stages and makes for other stages. `reads` has the layers of earlier stages
/// whose outputs the stage reads. `makes` has the stage's own layers whose outputs later stages read. Inputs of the
/// model that only the first stage reads are not among these tensors.
struct StageTensors {
  std::vector<std::uint32_t> reads;
  std::vector<Crossing> makes;
};

class ForwardMaker {
 public:
  ForwardMaker(const PolicyRequest& request, const ForwardShape& shape)
      : request_(request),
        shape_(shape),
        bytes_(stage_bytes(request)),
        draft_(each_once(shape.devices)) {
    for (const std::string& device : shape.devices) {
      const std::vector<std::string>& all = draft_.program.devices;
      device_of_.push_back(
          static_cast<std::uint32_t>(std::find(all.begin(), all.end(), device) - all.begin()));
    }
    for (std::size_t s = 0; s < bytes_.size(); ++s) tensors_.push_back(tensors_of(s));
  }

  Program make() {
    add_places();
    for (std::int64_t m = 0; m < shape_.round.micro_batches; ++m) {
      held_.clear();
      for (std::size_t s = 0; s < bytes_.size(); ++s) add_stage(s, m);
      draft_.end_phase();
    }
    Program& program = draft_.program;
    program.answer_buffers = shape_.buffers;
    program.rounds_per_step = shape_.round.per_step;
    program.rounds = checked_mul(request_.workload.steps, shape_.round.per_step, "rounds of a run");
    place_loads();
    return std::move(program);
  }

 private:
  const std::vector<Stage>& stages() const { return request_.pricing.stages; }
  const Layer& layer(std::uint32_t number) const { return request_.pricing.model.layers[number]; }
  bool is_last(std::size_t s) const { return s + 1 == bytes_.size(); }

  StageTensors tensors_of(std::size_t s) const {
    StageTensors tensors;
    const Stage& stage = stages()[s];
    if (!is_last(s))
      for (const Crossing& crossing : stage.crosses)
        if (crossing.layer >= stage.first && !layer(crossing.layer).inputs.empty())
          tensors.makes.push_back(crossing);
    if (s == 0) return tensors;
    for (const Crossing& crossing : stages()[s - 1].crosses)
      if (is_last(s) || reads(request_.pricing.model, stage, crossing.layer))
        tensors.reads.push_back(crossing.layer);
    return tensors;
  }

  /// Adds the tensors that are in one memory during the whole run. The weights, the inputs of a step and the answers of
  /// a step are in host memory. A cache of keys and values is on the device that reads it.
  void add_places() {
    Program& program = draft_.program;
    const std::int64_t samples = request_.workload.samples_per_step();
    const auto of_step = [&](const char* name, TensorClass tensor_class, std::int64_t bytes) {
      program.places.push_back(
          {.name = name,
           .tensor_class = tensor_class,
           .bytes = checked_mul(bytes, samples, std::string("bytes of a step's ") + name)});
    };
    of_step("inputs", TensorClass::input, stages().front().input_bytes);
    if (shape_.return_outputs)
      of_step("outputs", TensorClass::output, stages().back().output_bytes);
    for (std::size_t s = 0; s < bytes_.size(); ++s) {
      const std::int64_t cache = cache_bytes(stages()[s], samples);
      if (cache > 0)
        program.places.push_back({.name = instance_name("kv_cache", s, -1),
                                  .tensor_class = TensorClass::kv_cache,
                                  .bytes = cache,
                                  .node = shape_.devices[s]});
      program.staying.push_back({.device = device_of_[s], .weights = bytes_[s].weights});
      if (bytes_[s].weights > 0)
        program.places.push_back({.home = Program::Home::weights,
                                  .number = static_cast<std::int64_t>(s),
                                  .name = instance_name("weights", s, -1),
                                  .bytes = bytes_[s].weights});
    }
  }

  void add_stage(std::size_t s, std::int64_t m) {
    check_interrupt();
    draft_.go_to(device_of_[s]);
    Program::Operation operation = draft_.operation(ActionKind::forward, s);
    operation.micro_batch = static_cast<std::int32_t>(m);
    operation.workspace = bytes_[s].workspace;
    if (s == 0) read_inputs(operation, m);
    for (const std::uint32_t number : tensors_[s].reads) read(operation, number, s, m);
    for (const Crossing& crossing : tensors_[s].makes) {
      const std::uint32_t made =
          draft_.make(name_of(crossing, s, m), TensorClass::activation, bytes(crossing), s, m);
      operation.makes.push_back(made);
      held_[crossing.layer] = {{draft_.device(), made}};
    }
    if (is_last(s)) answer(operation, s, m);
    draft_.add(std::move(operation));
    if (is_last(s) && shape_.return_outputs)
      draft_.save_after(draft_.program.operations.back().makes.back(), draft_.next() - 1);
  }

  std::int64_t bytes(const Crossing& crossing) const {
    return checked_mul(crossing.bytes, request_.workload.micro_batch, "bytes of a micro-batch");
  }

  /// Returns the name of a tensor that crosses the cut after stage s. The name contains "boundary" and the stage. If
  /// several tensors cross the cut, the name also contains the layer that makes the tensor.
  std::string name_of(const Crossing& crossing, std::size_t s, std::int64_t m) const {
    if (stages()[s].crosses.size() == 1) return instance_name("boundary", s, m);
    return instance_name("boundary." + layer(crossing.layer).name, s, m);
  }

  /// Makes the first stage read its inputs. All inputs that no other stage reads are loaded as one tensor.
  void read_inputs(Program::Operation& operation, std::int64_t m) {
    std::int64_t rest = bytes_[0].input;
    if (!is_last(0))
      for (const Crossing& crossing : stages()[0].crosses)
        if (layer(crossing.layer).inputs.empty()) {
          rest -= bytes(crossing);
          if (reads(request_.pricing.model, stages()[0], crossing.layer))
            read(operation, crossing.layer, 0, m);
        }
    if (rest > 0) {
      const std::uint32_t input = load("input." + std::to_string(m), rest, 0, m);
      operation.loads.push_back(input);
      draft_.use(operation, input);
    }
  }

  std::uint32_t load(const std::string& name, std::int64_t bytes, std::size_t s, std::int64_t m) {
    const std::uint32_t input = draft_.make(name, TensorClass::input, bytes, s, m);
    draft_.bring(input, 0, Program::Home::none);
    return input;
  }

  /// Makes stage s read an output of an earlier stage, or an input of the model. If this tensor is not yet on the
  /// stage's device, a transfer brings it there.
  void read(Program::Operation& operation, std::uint32_t number, std::size_t s, std::int64_t m) {
    std::map<std::uint32_t, std::uint32_t>& on = held_[number];
    if (on.empty()) {
      const std::int64_t all =
          checked_mul(layer(number).output, bytes_of(request_.pricing.dtype), "bytes of an input");
      on[draft_.device()] =
          load("input." + layer(number).name + "." + std::to_string(m),
               checked_mul(all, request_.workload.micro_batch, "bytes of an input"), s, m);
      operation.loads.push_back(on.at(draft_.device()));
    } else if (!on.contains(draft_.device())) {
      const std::uint32_t source = on.begin()->second;
      const Program::Instance from = draft_[source];
      const std::uint32_t sent = draft_.make(from.name, from.tensor_class, from.bytes, s, m);
      draft_.bring(sent, 0, Program::Home::none, source);
      draft_[sent].sent = true;
      draft_[source].last = std::max(draft_[source].last, draft_.next());
      on[draft_.device()] = sent;
      operation.loads.push_back(sent);
    }
    draft_.use(operation, on.at(draft_.device()));
  }

  void answer(Program::Operation& operation, std::size_t s, std::int64_t m) {
    const std::uint32_t output =
        draft_.make("output." + std::to_string(m), TensorClass::output, bytes_[s].output, s, m);
    operation.makes.push_back(output);
    operation.ends_micro_batch = !shape_.return_outputs;
    draft_[output].saved_home = shape_.return_outputs;
    draft_[output].answer = shape_.return_outputs;
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
  ProgramDraft draft_;
  std::vector<std::uint32_t> device_of_;  ///< indexed by stage
  std::vector<StageTensors> tensors_;     ///< indexed by stage
  /// The instances of the current micro-batch. The first key is a layer, and the second key is a device.
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> held_;
};

}  // namespace

bool reads(const Model& model, const Stage& stage, std::uint32_t layer) {
  for (std::uint32_t l = stage.first; l <= stage.last; ++l) {
    const std::vector<std::uint32_t>& inputs = model.layers[l].inputs;
    if (std::find(inputs.begin(), inputs.end(), layer) != inputs.end()) return true;
  }
  return false;
}

Program forward_program(const PolicyRequest& request, const ForwardShape& shape) {
  refuse_long_round(shape.round.micro_batches, request.pricing.stages.size());
  return ForwardMaker(request, shape).make();
}

}  // namespace sluice
