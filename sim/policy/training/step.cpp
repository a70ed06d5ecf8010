#include "policy/training/step.hpp"

#include <algorithm>
#include <map>

#include "base/interrupt.hpp"
#include "base/quantity.hpp"

namespace sluice {

namespace {

std::string label(const std::string& what, std::size_t stage, std::int64_t micro_batch) {
  return what + "." + std::to_string(stage) +
         (micro_batch < 0 ? "" : "." + std::to_string(micro_batch));
}

class StepMaker {
 public:
  explicit StepMaker(const StepShape& shape)
      : shape_(shape),
        chain_(shape.chain),
        last_(chain_.stages.size() - 1),
        lanes_(static_cast<std::size_t>(shape.in_flight)) {
    for (std::size_t i = 0; i < shape.tape.size(); ++i)
      if (shape.tape[i].kind == TapeOp::Kind::backward) last_op_ = i;
    for (const StageState& stage : shape.stages)
      if (shape.weights_stay)
        for (const std::int64_t bytes : {stage.weights, stage.gradients, stage.optimizer})
          step_.constant_bytes = checked_add(step_.constant_bytes, bytes, "bytes of training");
    weights_.assign(chain_.stages.size(), none);
    gradients_.assign(chain_.stages.size(), none);
  }

  Step make() {
    for (std::int64_t batch = 0; batch < shape_.batches; ++batch) {
      step_.passes = 0;
      for (std::int64_t done = 0; done < shape_.micro_batches; done += shape_.in_flight) {
        const std::int64_t count = std::min(shape_.in_flight, shape_.micro_batches - done);
        first_pass_ = done == 0;
        last_pass_ = done + count == shape_.micro_batches;
        pass(batch * shape_.micro_batches + done, count);
        ++step_.passes;
      }
      if (shape_.weights_stay)
        for (std::size_t s = chain_.stages.size(); s-- > 0;) update(s);
    }
    for (Step::Instance& instance : step_.instances)
      instance.last = std::max(instance.last, instance.first);
    return std::move(step_);
  }

 private:
  /// A tensor where it is now: instances by device, and the one whose save left a copy in host
  /// memory.
  struct Held {
    std::map<std::uint32_t, std::uint32_t> on;
    std::uint32_t copy = none;
  };

  /// What a micro-batch has now, by boundary or stage.
  struct Lane {
    std::map<std::uint32_t, Held> boundary, inner, gradient;
    std::map<std::uint32_t, int> forwards;
    std::vector<std::uint32_t> pending;  ///< loads that wait for the next slot
    std::int64_t micro_batch = 0;
  };

  void pass(std::int64_t first, std::int64_t count) {
    for (std::int64_t m = 0; m < count; ++m) {
      lanes_[static_cast<std::size_t>(m)] = {};
      lanes_[static_cast<std::size_t>(m)].micro_batch = first + m;
    }
    for (std::size_t i = 0; i < shape_.tape.size(); ++i) {
      const TapeOp& op = shape_.tape[i];
      check_interrupt();
      for (std::int64_t m = 0; m < count; ++m) apply(op, lanes_[static_cast<std::size_t>(m)]);
      const bool computes = op.kind == TapeOp::Kind::forward || op.kind == TapeOp::Kind::backward;
      if (i == last_op_)
        for (std::int64_t m = 0; m < count; ++m)
          end_micro_batch(lanes_[static_cast<std::size_t>(m)]);
      const bool turns = op.kind == TapeOp::Kind::backward && !shape_.weights_stay;
      if (turns) end_gradients(op.number);
      if (computes) ++phase_;
    }
  }

  void apply(const TapeOp& op, Lane& lane) {
    switch (op.kind) {
      case TapeOp::Kind::forward:
        return forward(op.number, op.inner, lane);
      case TapeOp::Kind::backward:
        return backward(op.number, lane);
      case TapeOp::Kind::save:
        return save((op.inner ? lane.inner : lane.boundary).at(op.number));
      case TapeOp::Kind::load:
        return load(op, lane);
    }
  }

  std::uint32_t make(const std::string& name, TensorClass tensor_class, std::int64_t bytes,
                     std::size_t stage, std::int64_t micro_batch) {
    Step::Instance instance;
    instance.name = name;
    instance.tensor_class = tensor_class;
    instance.bytes = bytes;
    instance.stage = static_cast<std::int32_t>(stage);
    instance.micro_batch = static_cast<std::int32_t>(micro_batch);
    instance.device = device();
    instance.first = static_cast<std::int64_t>(step_.slots.size());
    instance.last = -1;
    step_.instances.push_back(std::move(instance));
    return static_cast<std::uint32_t>(step_.instances.size() - 1);
  }

  /// A slot of a micro-batch, with the loads that waited for it.
  Step::Slot slot(ActionKind kind, std::size_t stage, Lane* lane) {
    Step::Slot slot;
    slot.kind = kind;
    slot.stage = static_cast<std::int32_t>(stage);
    slot.device = device();
    slot.phase = phase_;
    if (lane) {
      slot.micro_batch = static_cast<std::int32_t>(lane->micro_batch);
      for (const std::uint32_t loaded : lane->pending) {
        step_.instances[loaded].first = static_cast<std::int64_t>(step_.slots.size());
        step_.instances[loaded].device = slot.device;
        slot.loads.push_back(loaded);
      }
      lane->pending.clear();
    }
    if (!shape_.weights_stay) need_weights(stage, slot);
    return slot;
  }

  void use(Step::Slot& slot, std::uint32_t instance) {
    slot.uses.push_back(instance);
    step_.instances[instance].last = static_cast<std::int64_t>(step_.slots.size());
  }

  std::uint32_t device() const { return static_cast<std::uint32_t>(phase_ % shape_.devices); }

  /// Uses a tensor on the slot's device. Where another device has it, it comes through host memory.
  void use(Step::Slot& slot, Held& held, double load_s) {
    if (!held.on.contains(slot.device)) {
      const Step::Instance source = step_.instances[held.on.begin()->second];
      const bool input = source.home == Step::Home::input;
      if (!input && held.copy == none) save(held);
      const std::uint32_t loaded = make(source.name, source.tensor_class, source.bytes,
                                        static_cast<std::size_t>(source.stage), source.micro_batch);
      step_.instances[loaded].loaded = true;
      step_.instances[loaded].load_s = load_s;
      step_.instances[loaded].home = source.home;
      step_.instances[loaded].copy_of = held.copy;
      held.on[slot.device] = loaded;
      slot.loads.push_back(loaded);
    }
    use(slot, held.on.at(slot.device));
  }

  void forward(std::uint32_t s, bool keeps, Lane& lane) {
    const ChainStage& stage = chain_.stages[s];
    const bool again = lane.forwards[s]++ > 0;
    Step::Slot slot = this->slot(again ? ActionKind::recompute : ActionKind::forward, s, &lane);
    slot.seconds = stage.forward_s;
    slot.workspace = keeps ? stage.keep_workspace : stage.pass_workspace;
    use(slot, lane.boundary.at(s), chain_.boundary(s).load_s);
    const bool answer = s == last_;
    const std::uint32_t output = make(label(answer ? "output" : "boundary", s, lane.micro_batch),
                                      answer ? TensorClass::output : TensorClass::activation,
                                      stage.output.bytes, s, lane.micro_batch);
    slot.makes.push_back(output);
    lane.boundary[s + 1].on = {{slot.device, output}};  // a copy in host memory stays one
    if (keeps && stage.inner.bytes > 0) {
      const std::uint32_t inner = make(label("inner", s, lane.micro_batch), TensorClass::activation,
                                       stage.inner.bytes, s, lane.micro_batch);
      slot.makes.push_back(inner);
      lane.inner[s].on = {{slot.device, inner}};
    }
    step_.slots.push_back(std::move(slot));
  }

  void backward(std::uint32_t s, Lane& lane) {
    const ChainStage& stage = chain_.stages[s];
    const StageState& state = shape_.stages[s];
    std::uint32_t core = none;
    if (state.selective_bytes > 0) {
      Step::Slot again = slot(ActionKind::recompute, s, &lane);
      again.seconds = state.selective_s;
      again.selective = true;
      use_kept(again, s, lane);
      core = make(label("core", s, lane.micro_batch), TensorClass::activation,
                  state.selective_bytes, s, lane.micro_batch);
      again.makes.push_back(core);
      step_.slots.push_back(std::move(again));
    }
    const auto part = [&](ActionKind kind, double share, bool input) {
      Step::Slot slot = this->slot(kind, s, &lane);
      slot.seconds = (stage.backward_s - state.selective_s) * share;
      slot.workspace = stage.backward_workspace;
      use_kept(slot, s, lane);
      if (core != none) use(slot, core);
      if (const auto held = lane.gradient.find(s + 1); held != lane.gradient.end())
        use(slot, held->second, chain_.boundary(s + 1).load_s);
      if (input && s > 0 && chain_.stages[s - 1].gradient > 0) {
        const std::uint32_t gradient =
            make(label("gradient", s, lane.micro_batch), TensorClass::gradient,
                 chain_.stages[s - 1].gradient, s, lane.micro_batch);
        slot.makes.push_back(gradient);
        lane.gradient[s].on = {{slot.device, gradient}};
      }
      if (kind != ActionKind::backward_input && !shape_.weights_stay) need_gradients(s, slot);
      step_.slots.push_back(std::move(slot));
    };
    if (!shape_.split_backward) return part(ActionKind::backward, 1, true);
    part(ActionKind::backward_input, 0.5, true);
    part(ActionKind::backward_weight, 0.5, false);
  }

  /// What the backward pass of stage s reads of the forward pass.
  void use_kept(Step::Slot& slot, std::uint32_t s, Lane& lane) {
    const ChainStage& stage = chain_.stages[s];
    if (stage.inner.bytes > 0) use(slot, lane.inner.at(s), stage.inner.load_s);
    if (stage.reads_input) use(slot, lane.boundary.at(s), chain_.boundary(s).load_s);
    if (stage.reads_output) use(slot, lane.boundary.at(s + 1), stage.output.load_s);
  }

  /// Right after the slot that made it.
  void save(Held& held) {
    held.copy = held.on.begin()->second;
    save_after(held.copy, step_.instances[held.copy].first);
  }

  void save_after(std::uint32_t number, std::int64_t at) {
    Step::Instance& instance = step_.instances[number];
    instance.saved_at = at;
    instance.last = std::max(instance.last, at);
    auto& saves = step_.slots[static_cast<std::size_t>(at)].saves;
    instance.saves = static_cast<std::uint32_t>(saves.size());
    saves.push_back(number);
  }

  void load(const TapeOp& op, Lane& lane) {
    const bool input = !op.inner && op.number == 0;
    const ChainTensor& tensor =
        op.inner ? chain_.stages[op.number].inner : chain_.boundary(op.number);
    const std::size_t stage = op.inner || input ? op.number : op.number - 1;
    const std::string name = label(input      ? "image"
                                   : op.inner ? "inner"
                                              : "boundary",
                                   stage, lane.micro_batch);
    const std::uint32_t loaded = make(name, input ? TensorClass::input : TensorClass::activation,
                                      tensor.bytes, stage, lane.micro_batch);
    Step::Instance& instance = step_.instances[loaded];
    instance.loaded = true;
    instance.load_s = tensor.load_s;
    instance.home = input ? Step::Home::input : Step::Home::none;
    Held& held = (op.inner ? lane.inner : lane.boundary)[op.number];
    if (!input) instance.copy_of = held.copy;
    held.on = {{device(), loaded}};
    lane.pending.push_back(loaded);
  }

  void end_micro_batch(Lane& lane) {
    for (std::size_t i = step_.slots.size(); i-- > 0;)
      if (step_.slots[i].micro_batch == lane.micro_batch) {
        step_.slots[i].ends_micro_batch = true;
        return;
      }
  }

  // --- weights that take turns ---------------------------------------------------------------

  /// A run of slots of one stage shares one load of its weights.
  void need_weights(std::size_t s, Step::Slot& slot) {
    if (shape_.stages[s].weights == 0) return;
    if (run_stage_ != s || run_device_ != slot.device) {
      run_stage_ = s;
      run_device_ = slot.device;
      weights_[s] = loaded_state("weights", TensorClass::weight, shape_.stages[s].weights, s,
                                 Step::Home::weights, shape_.stages[s].weights_load_s);
      slot.loads.push_back(weights_[s]);
    }
    use(slot, weights_[s]);
  }

  std::uint32_t loaded_state(const char* what, TensorClass tensor_class, std::int64_t bytes,
                             std::size_t s, Step::Home home, double load_s) {
    const std::uint32_t number = make(label(what, s, -1), tensor_class, bytes, s, -1);
    Step::Instance& instance = step_.instances[number];
    instance.loaded = true;
    instance.home = home;
    instance.load_s = load_s;
    return number;
  }

  /// The sum of the gradients: new in the first pass of a batch, from host memory in later ones.
  void need_gradients(std::size_t s, Step::Slot& slot) {
    if (shape_.stages[s].gradients == 0) return;
    if (!open_gradients_) {
      open_gradients_ = true;
      const std::uint32_t before = gradients_[s];
      if (first_pass_) {
        gradients_[s] = make(label("gradients", s, -1), TensorClass::gradient,
                             shape_.stages[s].gradients, s, -1);
        slot.makes.push_back(gradients_[s]);
      } else {
        gradients_[s] = loaded_state("gradients", TensorClass::gradient, shape_.stages[s].gradients,
                                     s, Step::Home::none, shape_.stages[s].gradients_load_s);
        step_.instances[gradients_[s]].copy_of = before;
        slot.loads.push_back(gradients_[s]);
      }
    }
    use(slot, gradients_[s]);
  }

  /// After the last backward of the stage in this pass.
  void end_gradients(std::size_t s) {
    if (shape_.stages[s].gradients == 0) return;
    open_gradients_ = false;
    if (last_pass_ && shape_.stages[s].updates) return update(s);
    if (last_pass_) {  // nobody uses them: they are the answer
      step_.instances[gradients_[s]].home = Step::Home::gradients;
      step_.instances[gradients_[s]].saved_home = true;
    }
    save_after(gradients_[s], static_cast<std::int64_t>(step_.slots.size()) - 1);
  }

  void update(std::size_t s) {
    const StageState& state = shape_.stages[s];
    if (!state.updates || state.weights == 0) return;
    Step::Slot slot = this->slot(ActionKind::update, s, nullptr);
    slot.seconds = state.update_s;
    if (shape_.weights_stay) {
      step_.slots.push_back(std::move(slot));
      return;
    }
    use(slot, gradients_[s]);
    std::vector<std::uint32_t> written = {weights_[s]};
    if (state.optimizer > 0) {
      const std::uint32_t optimizer =
          loaded_state("optimizer", TensorClass::optimizer, state.optimizer, s,
                       Step::Home::optimizer, state.optimizer_load_s);
      slot.loads.push_back(optimizer);
      use(slot, optimizer);
      written.push_back(optimizer);
    }
    step_.slots.push_back(std::move(slot));
    for (const std::uint32_t number : written) {
      step_.instances[number].saved_home = true;
      save_after(number, static_cast<std::int64_t>(step_.slots.size()) - 1);
    }
  }

  const StepShape& shape_;
  const Chain& chain_;
  std::size_t last_;
  std::vector<Lane> lanes_;
  std::size_t last_op_ = 0;
  Step step_;
  bool first_pass_ = true, last_pass_ = true, open_gradients_ = false;
  std::size_t run_stage_ = none;
  std::uint32_t run_device_ = 0;
  std::int64_t phase_ = 0;
  std::vector<std::uint32_t> weights_, gradients_;  ///< by stage: the instance at hand
};

}  // namespace

std::vector<std::int64_t> Step::bytes(std::uint32_t device) const {
  const auto add = [](std::int64_t a, std::int64_t b) {
    return checked_add(a, b, "bytes of a training step");
  };
  std::vector<std::int64_t> come(slots.size(), 0), go(slots.size(), 0), levels;
  for (const Instance& instance : instances) {
    if (instance.device != device) continue;
    auto& first = come[static_cast<std::size_t>(instance.first)];
    auto& last = go[static_cast<std::size_t>(instance.last)];
    first = add(first, instance.bytes);
    last = add(last, instance.bytes);
  }
  std::int64_t level = constant_bytes;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    level = add(level, come[i]);
    levels.push_back(slots[i].device == device ? add(level, slots[i].workspace) : level);
    level -= go[i];
  }
  return levels;
}

std::int64_t Step::peak(std::uint32_t device) const {
  const std::vector<std::int64_t> levels = bytes(device);
  return levels.empty() ? constant_bytes : *std::max_element(levels.begin(), levels.end());
}

Step make_step(const StepShape& shape) {
  return StepMaker(shape).make();
}

}  // namespace sluice
