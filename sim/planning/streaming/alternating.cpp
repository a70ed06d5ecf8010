#include "planning/streaming/alternating.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/interrupt.hpp"
#include "base/quantity.hpp"
#include "planning/program_draft.hpp"
#include "planning/training/late_loads.hpp"
#include "stage/stage_inputs.hpp"

namespace sluice {

namespace {

struct Slot {
  std::size_t group = 0;
  std::int64_t pass = 0, micro_batch = 0;
};

class AlternatingMaker {
 public:
  AlternatingMaker(const PolicyRequest& request, const CommonParameters& common,
                   const StreamedCase& streamed, const AlternatingShape& shape)
      : request_(request),
        common_(common),
        streamed_(streamed),
        shape_(shape),
        draft_({common.device.name}),
        inputs_(
            stage_inputs(request.pricing.model, request.pricing.stages, EarlierAnswers::left_out)),
        tensors_(tensors_of_stages(inputs_, streamed.groups.size())),
        held_(static_cast<std::size_t>(streamed.micro_batches)),
        weights_(streamed.groups.size()),
        pass_of_weights_(streamed.groups.size(), -1),
        slower_(slower()) {}

  Program make() {
    add_places();
    for (const Slot& slot : slots()) add(slot);
    Program& program = draft_.program;
    program.rounds = request_.workload.steps;
    for (std::size_t a = 0; a < answers_.size(); ++a) {
      const std::size_t later = a + static_cast<std::size_t>(shape_.buffers) - 1;
      Program::Instance& answer = program.instances[answers_[a]];
      answer.last = program.instances[answers_[std::min(later, answers_.size() - 1)]].first;
    }
    load_late(program, load_latencies(request_.pricing.platform, program.devices));
    for (Program::Operation& operation : program.operations)
      operation.seconds = group(static_cast<std::size_t>(operation.stage)).compute_s;
    return std::move(program);
  }

 private:
  const std::vector<Stage>& stages() const { return request_.pricing.stages; }
  const StreamedCase::Group& group(std::size_t g) const { return streamed_.groups[g]; }
  bool is_last(std::size_t g) const { return g + 1 == streamed_.groups.size(); }
  /// Returns for how long a slot occupies the device or the link to host memory: the seconds of its computation or of
  /// its save, whichever is longer.
  double busy_s(const Slot& slot) const {
    return std::max(group(slot.group).compute_s, streamed_.save_s(slot.group));
  }

  /// Returns the slots of a step in their order. The front slots of a pass alternate with the back slots of the
  /// previous pass. At every moment, about the same share of the front slots' seconds and of the back slots' seconds
  /// has passed.
  std::vector<Slot> slots() const {
    std::vector<std::vector<Slot>> front(1),
        back(1);  // back[p] has the back slots of pass p - 1; back[0] is empty
    for (const GroupRun& run :
         group_runs(streamed_.groups.size(), streamed_.micro_batches, shape_.in_flight)) {
      if (run.group == 0 && run.pass > 0) front.emplace_back();
      if (run.group == 0) back.emplace_back();
      for (std::int64_t m = 0; m < run.count; ++m)
        (run.group < shape_.first_back ? front : back)
            .back()
            .push_back({run.group, run.pass, run.first_micro_batch + m});
    }
    front.emplace_back();
    std::vector<Slot> all;
    for (std::size_t pass = 0; pass < front.size(); ++pass) merge(front[pass], back[pass], all);
    return all;
  }

  void merge(const std::vector<Slot>& front, const std::vector<Slot>& back,
             std::vector<Slot>& all) const {
    // Two shares of seconds (see slots()) count as equal if their relative difference is at most this number.
    constexpr double rounding = 1e-9;
    double of_front = 0, of_back = 0, front_s = 0, back_s = 0;
    for (const Slot& slot : front) of_front += busy_s(slot);
    for (const Slot& slot : back) of_back += busy_s(slot);
    std::size_t f = 0, b = 0;
    while (f < front.size() || b < back.size()) {
      const bool takes_back =
          b < back.size() &&
          (f == front.size() || back_s * of_front <= front_s * of_back * (1 + rounding));
      const Slot& slot = takes_back ? back[b++] : front[f++];
      (takes_back ? back_s : front_s) += busy_s(slot);
      all.push_back(slot);
    }
  }

  void add_places() {
    draft_.hold_step(request_, streamed_.returns_answers);
    for (std::size_t g = 0; g < stages().size(); ++g) {
      draft_.hold_cache(request_, g, request_.workload.samples_per_step(), common_.device.name);
      draft_.hold_weights(g, group(g).bytes.weights);
    }
  }

  std::uint32_t load(Program::Operation& operation, const std::string& name,
                     TensorClass tensor_class, std::int64_t bytes, Program::Home home) {
    const std::uint32_t loaded =
        draft_.make(name, tensor_class, bytes, static_cast<std::size_t>(operation.stage),
                    tensor_class == TensorClass::input ? operation.micro_batch : -1);
    draft_.bring(loaded, streamed_.down.seconds(bytes), home);
    operation.loads.push_back(loaded);
    return loaded;
  }

  void add(const Slot& slot) {
    check_interrupt();
    const std::size_t g = slot.group;
    const StageBytes& bytes = group(g).bytes;
    Program::Operation operation = draft_.operation(ActionKind::forward, g);
    operation.micro_batch = static_cast<std::int32_t>(slot.micro_batch);
    operation.workspace = bytes.workspace;
    operation.seconds = group(g).compute_s * slower_;
    if (g == 0 && bytes.input > 0) load_inputs(operation);
    if (bytes.weights > 0) {
      if (std::exchange(pass_of_weights_[g], slot.pass) != slot.pass)
        weights_[g] = load(operation, instance_name("weights", g, -1), TensorClass::weight,
                           bytes.weights, Program::Home::weights);
      draft_.use(operation, weights_[g]);
    }
    exchange_tensors(operation, slot);
    const std::int64_t answer_bytes = streamed_.answer_bytes(g);
    const bool saves = answer_bytes > 0 && streamed_.returns_answers;
    if (answer_bytes > 0) {
      const std::uint32_t answer =
          draft_.make(instance_name("output", g, slot.micro_batch), TensorClass::output,
                      answer_bytes, g, slot.micro_batch);
      operation.makes.push_back(answer);
      draft_[answer].saved_home = saves;
      draft_[answer].answer = saves && is_last(g);
      if (saves) answers_.push_back(answer);
    }
    operation.ends_micro_batch = is_last(g) && !saves;
    draft_.add(std::move(operation));
    if (saves) draft_.save_after(answers_.back(), draft_.next() - 1);
  }

  /// Loads all inputs of a micro-batch as one tensor. The tensor stays on the device until the last group that reads an
  /// input has been computed.
  void load_inputs(Program::Operation& operation) {
    const std::uint32_t input = load(operation, "input." + std::to_string(operation.micro_batch),
                                     TensorClass::input, group(0).bytes.input, Program::Home::none);
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (inputs_[i].of_model) held_[static_cast<std::size_t>(operation.micro_batch)][i] = input;
  }

  /// Makes the operation of the slot read the tensors that it needs from earlier groups, and make the tensors for later
  /// groups.
  void exchange_tensors(Program::Operation& operation, const Slot& slot) {
    std::map<std::size_t, std::uint32_t>& held = held_[static_cast<std::size_t>(slot.micro_batch)];
    std::set<std::uint32_t> used;
    for (const std::size_t i : tensors_[slot.group].reads) used.insert(held.at(i));
    for (const std::uint32_t instance : used) draft_.use(operation, instance);
    for (const std::size_t i : tensors_[slot.group].makes) {
      held[i] =
          draft_.make(inputs_[i], request_.workload.micro_batch, slot.group, slot.micro_batch);
      operation.makes.push_back(held[i]);
    }
    if (is_last(slot.group)) held.clear();
  }

  /// Returns a factor: on average, a slot takes this factor times the seconds of its computation. If all saves together
  /// take longer than all computations together, the factor is (seconds of saves) / (seconds of computations).
  /// Otherwise it is 1.
  double slower() const {
    double compute = 0, saves = 0;
    for (std::size_t g = 0; g < streamed_.groups.size(); ++g) {
      compute += group(g).compute_s;
      saves += streamed_.save_s(g);
    }
    return compute > 0 ? std::max(1.0, saves / compute) : 1;
  }

  const PolicyRequest& request_;
  const CommonParameters& common_;
  const StreamedCase& streamed_;
  const AlternatingShape& shape_;
  ProgramDraft draft_;
  std::vector<StageInput> inputs_;     ///< the tensors that groups read
  std::vector<StageTensors> tensors_;  ///< indexed by group
  /// Indexed by micro-batch: a map from an index of `inputs_` to the instance that holds the tensor for later groups.
  std::vector<std::map<std::size_t, std::uint32_t>> held_;
  std::vector<std::uint32_t> weights_;         ///< the last loaded instance, indexed by group
  std::vector<std::int64_t> pass_of_weights_;  ///< the pass of this instance, indexed by group
  std::vector<std::uint32_t> answers_;
  double slower_;
};

}  // namespace

Program alternating_program(const PolicyRequest& request, const CommonParameters& common,
                            const StreamedCase& streamed, const AlternatingShape& shape) {
  return AlternatingMaker(request, common, streamed, shape).make();
}

std::size_t first_back_group(const StreamedCase& streamed) {
  std::size_t first = 0;
  while (first + 1 < streamed.groups.size() && streamed.groups[first].bytes.answer == 0) ++first;
  return first;
}

}  // namespace sluice
