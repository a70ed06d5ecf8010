#include "planning/training/step.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/quantity.hpp"
#include "fates/device_tape.hpp"
#include "planning/builder.hpp"
#include "planning/training/chain/needed_elsewhere.hpp"
#include "planning/training/tensor_location.hpp"
#include "planning/training/weight_turns.hpp"

namespace sluice {

namespace {

class StepMaker {
 public:
  explicit StepMaker(const StepShape& shape)
      : shape_(shape),
        chain_(shape.chain),
        tape_(on_devices(chain_, shape.devices / chain_.devices, shape.tape)),
        last_(chain_.stages.size() - 1),
        needed_elsewhere_(chain_, shape.devices),
        draft_(std::vector<std::string>(shape.devices)),
        turns_(draft_, shape),
        tensors_(static_cast<std::size_t>(shape.in_flight)) {
    for (std::size_t i = 0; i < tape_.size(); ++i)
      if (tape_[i].kind == TapeOp::Kind::backward) last_op_ = i;
    const auto slots = std::count_if(tape_.begin(), tape_.end(), computes);
    const auto updates = static_cast<std::int64_t>(shape.stages.size());
    const auto all = [&](std::int64_t each) {
      return static_cast<std::size_t>((each * shape.micro_batches + updates) * shape.batches);
    };
    draft_.program.operations.reserve(all(slots));
    // Each operation makes or loads up to two instances, and few do neither.
    draft_.program.instances.reserve(all(static_cast<std::int64_t>(shape.tape.size()) + slots / 2));
    add_places();
    for (std::size_t s = 0; s < shape.stages.size(); ++s) {
      const StageState& stage = shape.stages[s];
      const auto device = static_cast<std::uint32_t>(s % shape.devices);
      const StayingTensors stays = shape.stays(s);
      draft_.program.staying.push_back({device, stays.weights ? stage.weights : 0,
                                        stays.gradients ? stage.gradients : 0,
                                        stays.optimizer ? stage.optimizer : 0});
    }
  }

  Program make() {
    for (std::int64_t batch = 0; batch < shape_.batches; ++batch) {
      draft_.program.passes = 0;
      for (std::int64_t done = 0; done < shape_.micro_batches; done += shape_.in_flight) {
        const std::int64_t count = std::min(shape_.in_flight, shape_.micro_batches - done);
        turns_.begin_pass(done == 0, done + count == shape_.micro_batches);
        pass(batch * shape_.micro_batches + done, count);
        ++draft_.program.passes;
      }
      if (!shape_.updates_follow) add_updates(shape_, draft_.program);
    }
    Program& program = draft_.program;
    program.left_out = program.count() / program.passes * shape_.more_passes;
    program.more_passes = shape_.more_passes;
    program.in_flight = shape_.in_flight;
    program.passes = program.passes * shape_.rounds_per_batch + shape_.more_passes;
    draft_.program.rounds_per_step = shape_.rounds_per_step;
    for (Program::Instance& instance : draft_.program.instances)
      instance.last = std::max(instance.last, instance.first);
    return std::move(draft_.program);
  }

 private:
  /// Adds the tensors whose home is host memory: the inputs of the step, and the weights. Also adds optimizer state
  /// that takes turns, and gradients that take turns if there are no updates.
  void add_places() {
    std::vector<Program::Place>& places = draft_.program.places;
    for (std::int64_t m = 0; m < shape_.micro_batches * shape_.batches; ++m)
      places.push_back({.home = Program::Home::input,
                        .number = m,
                        .name = "input." + std::to_string(m),
                        .tensor_class = TensorClass::input,
                        .bytes = chain_.input.bytes});
    // Each round loads the inputs of its own batches. The other inputs of the step only occupy host memory.
    const std::int64_t others =
        (shape_.rounds_per_step - 1) * shape_.micro_batches * shape_.batches +
        shape_.more_passes * shape_.in_flight;
    if (others > 0)
      places.push_back(
          {.home = Program::Home::input,
           .number = shape_.micro_batches * shape_.batches,
           .name = "inputs",
           .tensor_class = TensorClass::input,
           .bytes = checked_mul(chain_.input.bytes, others, "bytes of a step's inputs")});
    const auto add = [&](Program::Home home, std::size_t s, const char* name,
                         TensorClass tensor_class, std::int64_t bytes) {
      if (bytes > 0)
        places.push_back({.home = home,
                          .number = static_cast<std::int64_t>(s),
                          .name = instance_name(name, s, -1),
                          .tensor_class = tensor_class,
                          .bytes = bytes});
    };
    for (std::size_t s = 0; s < shape_.stages.size(); ++s) {
      const StageState& state = shape_.stages[s];
      add(Program::Home::weights, s, "weights", TensorClass::weight, state.weights);
      if (!shape_.stays(s).optimizer)
        add(Program::Home::optimizer, s, "optimizer", TensorClass::optimizer, state.optimizer);
      if (!state.updates && !shape_.stays(s).gradients)
        add(Program::Home::gradients, s, "gradients", TensorClass::gradient, state.gradients);
    }
  }

  /// The tensors that a micro-batch has now: boundaries and their gradients by number of the boundary, inner tensors by
  /// stage. A tensor that no device has held yet has an empty location.
  struct MicroBatchTensors {
    std::vector<TensorLocation> boundary, inner, gradient;
    std::vector<char> has_run;           ///< for each stage, whether it has run forward
    std::vector<std::uint32_t> pending;  ///< the loads that wait for the next slot
    std::int64_t micro_batch = 0;

    void begin(std::int64_t number, std::size_t stages) {
      for (std::vector<TensorLocation>* all : {&boundary, &inner, &gradient})
        all->assign(stages + 1, {});
      has_run.assign(stages, 0);
      pending.clear();
      micro_batch = number;
    }
  };

  void pass(std::int64_t first, std::int64_t count) {
    for (std::int64_t m = 0; m < count; ++m)
      tensors_[static_cast<std::size_t>(m)].begin(first + m, chain_.stages.size());
    for (std::size_t i = 0; i < tape_.size(); ++i) {
      const TapeOp& op = tape_[i];
      check_interrupt();
      if (op.kind != TapeOp::Kind::save) go_to_stage(stage_from(i));
      for (std::int64_t m = 0; m < count; ++m) apply(op, tensors_[static_cast<std::size_t>(m)]);
      if (i == last_op_)
        for (std::int64_t m = 0; m < count; ++m)
          end_micro_batch(tensors_[static_cast<std::size_t>(m)]);
      if (op.kind == TapeOp::Kind::backward && !shape_.updates_last(op.number))
        turns_.end_gradients(op.number);
    }
  }

  /// Returns the stage of the next pass in the tape, from operation i on. A load belongs to the next pass.
  std::uint32_t stage_from(std::size_t i) const {
    for (; i < tape_.size(); ++i)
      if (computes(tape_[i])) return tape_[i].number;
    return stage_;
  }
  static bool computes(const TapeOp& op) {
    return op.kind == TapeOp::Kind::forward || op.kind == TapeOp::Kind::backward;
  }

  /// Begins a new phase, on the device of stage s, unless the last operation belongs to this stage, too.
  void go_to_stage(std::uint32_t s) {
    if (std::exchange(stage_, s) == s) return;
    draft_.end_phase();
    draft_.go_to(s % shape_.devices);
  }

  void apply(const TapeOp& op, MicroBatchTensors& tensors) {
    switch (op.kind) {
      case TapeOp::Kind::forward:
        return forward(op.number, op.inner, tensors);
      case TapeOp::Kind::backward:
        return backward(op.number, tensors);
      case TapeOp::Kind::save:
        return save_once((op.inner ? tensors.inner : tensors.boundary)[op.number]);
      case TapeOp::Kind::load:
        return load(op, tensors);
    }
  }

  /// Returns a new operation of a micro-batch. The loads in `tensors.pending` have waited for an operation, and become
  /// loads of this one.
  Program::Operation slot(ActionKind kind, std::size_t stage, MicroBatchTensors& tensors) {
    Program::Operation slot = draft_.operation(kind, stage);
    slot.micro_batch = static_cast<std::int32_t>(tensors.micro_batch);
    for (const std::uint32_t loaded : tensors.pending) {
      draft_[loaded].first = draft_.next();
      draft_[loaded].device = slot.device;
      slot.loads.push_back(loaded);
    }
    tensors.pending.clear();
    turns_.need_weights(stage, slot);
    return slot;
  }

  /// Makes the slot use a tensor. If only another device has the tensor, the tensor goes through host memory to the
  /// slot's device.
  void use(Program::Operation& slot, TensorLocation& location, double load_s) {
    std::uint32_t used = location.at(slot.device);
    if (used == none) {
      const std::uint32_t source = location.first();
      const Program::Home home = draft_[source].home;
      if (home != Program::Home::input && location.copy == none) save(location);
      used = draft_.make_again(source, static_cast<std::size_t>(draft_[source].stage));
      draft_.bring(used, load_s, home, location.copy);
      location.on.push_back({slot.device, used});
      slot.loads.push_back(used);
    }
    draft_.use(slot, used);
  }

  void forward(std::uint32_t s, bool keeps, MicroBatchTensors& tensors) {
    const ChainStage& stage = chain_.stages[s];
    const bool again = std::exchange(tensors.has_run[s], 1) != 0;
    Program::Operation slot =
        this->slot(again ? ActionKind::recompute : ActionKind::forward, s, tensors);
    slot.seconds = stage.forward_s;
    slot.workspace = stage.forward_workspace(keeps);
    chain_.each_read(
        s, [&](std::size_t b, bool) { use(slot, tensors.boundary[b], chain_.boundary(b).load_s); });
    const bool answer = s == last_;
    const std::uint32_t output = draft_.make_numbered(
        answer ? "output" : "boundary", answer ? TensorClass::output : TensorClass::activation,
        stage.output.bytes, s, tensors.micro_batch);
    slot.makes.push_back(output);
    // A copy in host memory stays valid: its values are the same.
    tensors.boundary[s + 1].come({slot.device, output});
    if (keeps && stage.inner.bytes > 0) {
      const std::uint32_t inner = draft_.make_numbered("inner", TensorClass::activation,
                                                       stage.inner.bytes, s, tensors.micro_batch);
      slot.makes.push_back(inner);
      tensors.inner[s].come({slot.device, inner});
    }
    draft_.add(std::move(slot));
    // The next phase waits for what other devices read. So it is saved before the inner tensors.
    if (needed_elsewhere_.output(s)) save_once(tensors.boundary[s + 1]);
  }

  void backward(std::uint32_t s, MicroBatchTensors& tensors) {
    const ChainStage& stage = chain_.stages[s];
    const StageState& state = shape_.stages[s];
    std::uint32_t core = none;
    if (state.selective_bytes > 0) {
      Program::Operation again = slot(ActionKind::recompute, s, tensors);
      again.seconds = state.selective_s;
      again.selective = true;
      use_kept(again, s, tensors);
      core = draft_.make_numbered("core", TensorClass::activation, state.selective_bytes, s,
                                  tensors.micro_batch);
      again.makes.push_back(core);
      draft_.add(std::move(again));
    }
    const auto part = [&](ActionKind kind, double seconds, bool input) {
      Program::Operation slot = this->slot(kind, s, tensors);
      slot.seconds = seconds;
      slot.workspace = stage.backward_workspace;
      use_kept(slot, s, tensors);
      if (core != none) draft_.use(slot, core);
      if (TensorLocation& gradient = tensors.gradient[s + 1]; !gradient.on.empty())
        use(slot, gradient, chain_.boundary(s + 1).load_s);
      if (input) chain_.each_read(s, [&](std::size_t b, bool) { add_gradient(slot, b, tensors); });
      if (kind != ActionKind::backward_input) turns_.need_gradients(s, slot);
      draft_.add(std::move(slot));
      if (!input) return;
      for (const std::size_t b : needed_elsewhere_.gradients(s))
        if (!tensors.gradient[b].on.empty()) save_once(tensors.gradient[b]);
    };
    if (!shape_.split_backward)
      return part(ActionKind::backward, stage.backward_s - state.selective_s,
                  /*input=*/true);
    part(ActionKind::backward_input, state.backward_input_s, /*input=*/true);
    part(ActionKind::backward_weight, state.backward_weight_s, /*input=*/false);
  }

  /// Makes the slot compute the gradient of boundary `b`, which its stage reads. If another stage has already made this
  /// gradient in its backward pass, the slot adds its own numbers to it.
  void add_gradient(Program::Operation& slot, std::size_t b, MicroBatchTensors& tensors) {
    if (b == 0 || chain_.stages[b - 1].gradient == 0) return;
    TensorLocation& gradient = tensors.gradient[b];
    if (gradient.on.empty()) {
      const std::uint32_t made = draft_.make_numbered(
          "gradient", TensorClass::gradient, chain_.stages[b - 1].gradient, b, tensors.micro_batch);
      slot.makes.push_back(made);
      gradient.be_only({slot.device, made});
      return;
    }
    use(slot, gradient, chain_.boundary(b).load_s);
    gradient.be_only({slot.device, gradient.at(slot.device)});
    gradient.copy = none;
    gradient.changed_at = draft_.next();
  }

  /// Makes the slot, a backward pass of stage s, use those tensors of the forward pass that it reads.
  void use_kept(Program::Operation& slot, std::uint32_t s, MicroBatchTensors& tensors) {
    const ChainStage& stage = chain_.stages[s];
    if (stage.inner.bytes > 0) use(slot, tensors.inner[s], stage.inner.load_s);
    chain_.each_read(s, [&](std::size_t b, bool backward) {
      if (!backward) return;
      use(slot, tensors.boundary[b], chain_.boundary(b).load_s);
    });
    if (stage.reads_output) use(slot, tensors.boundary[s + 1], stage.output.load_s);
  }

  /// Makes a save that the tape lists, unless host memory already has a copy because another device needed the tensor.
  void save_once(TensorLocation& location) {
    if (location.copy == none) save(location);
  }

  /// Saves a tensor directly after the slot that made it, or after the last slot that added numbers to it.
  void save(TensorLocation& location) {
    location.copy = location.first();
    draft_.save_after(location.copy, std::max(draft_[location.copy].first, location.changed_at));
  }

  void load(const TapeOp& op, MicroBatchTensors& tensors) {
    const bool input = !op.inner && op.number == 0;
    const ChainTensor& tensor =
        op.inner ? chain_.stages[op.number].inner : chain_.boundary(op.number);
    const std::size_t stage = op.inner || input ? op.number : op.number - 1;
    const std::uint32_t loaded =
        draft_.make_numbered(input      ? "image"
                             : op.inner ? "inner"
                                        : "boundary",
                             input ? TensorClass::input : TensorClass::activation, tensor.bytes,
                             stage, tensors.micro_batch);
    TensorLocation& location = (op.inner ? tensors.inner : tensors.boundary)[op.number];
    draft_.bring(loaded, tensor.load_s, input ? Program::Home::input : Program::Home::none,
                 input ? none : location.copy);
    location.come({draft_.device(), loaded});
    tensors.pending.push_back(loaded);
  }

  void end_micro_batch(MicroBatchTensors& tensors) {
    std::vector<Program::Operation>& slots = draft_.program.operations;
    for (std::size_t i = slots.size(); i-- > 0;)
      if (slots[i].micro_batch == tensors.micro_batch) {
        slots[i].ends_micro_batch = true;
        return;
      }
  }

  const StepShape& shape_;
  const Chain& chain_;
  Tape tape_;
  std::size_t last_;
  NeededElsewhere needed_elsewhere_;
  ProgramDraft draft_;
  WeightTurns turns_;
  std::vector<MicroBatchTensors> tensors_;
  std::size_t last_op_ = 0;
  std::uint32_t stage_ = 0;  ///< the stage of the current phase
};

}  // namespace

Program make_step(const StepShape& shape) {
  // This check comes first, because a round that is too long would fill the memory of the computer. Each operation of
  // the tape is at least one action.
  refuse_long_round(checked_mul(shape.micro_batches, shape.batches, "micro-batches of a round"),
                    shape.tape.size());
  return StepMaker(shape).make();
}

void add_updates(const StepShape& shape, Program& step) {
  for (std::size_t s = shape.stages.size(); s-- > 0;) {
    const StageState& state = shape.stages[s];
    if (!shape.updates_last(s) || !state.updates || state.weights == 0) continue;
    Program::Operation update;
    update.kind = ActionKind::update;
    update.stage = static_cast<std::int32_t>(s);
    update.phase = step.operations.back().phase;
    update.seconds = state.update_s;
    step.operations.push_back(std::move(update));
  }
}

}  // namespace sluice
