#include "planning/program_listing.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace sluice {

namespace {

class ProgramLister {
 public:
  explicit ProgramLister(const ProgramListing& listing)
      : listing_(listing),
        request_(listing.request),
        program_(listing.program),
        host_(request_.pricing.platform.host().name),
        builder_(request_.pricing.platform, listing.name, request_.capacity_enforced),
        slots_(builder_, memories(),
               listing.loads_within ? StepSlots::Prologue::by_need : StepSlots::Prologue::as_listed,
               program_.rest),
        writes_(program_),
        saves_(program_.instances.size()) {
    if (!listing.named) builder_.leave_out_names();
    for (const std::vector<std::string>* nodes : {&program_.devices, &program_.memories})
      for (const std::string& node : *nodes) pools_.push_back(builder_.pool(node));
  }

  std::int64_t most() { return slots_.most(program_.devices.front()); }

  Draft make() {
    for (const Program::Place& place : program_.places) add_place(place);
    const std::vector<std::int64_t> first_uses = program_.first_of_stages();
    for (std::size_t s = 0; s < program_.staying.size(); ++s) add_staying(s, first_uses[s]);
    add_tensors();
    for (const Program::Load& load : program_.loads) slots_.add(slot_load(load));
    slots_.list([&](std::int64_t at) { return list_operation(at); });
    if (program_.rest == 0) list_last_saves();
    if (last_of_round_) builder_.wait(first_, last_of_round_, 1);
    wait_for_answers();
    wait_for_saves();
    for (const Program::Wait& wait : program_.waits)
      builder_.wait(action_of(wait.operation), action_of(wait.on), wait.rounds_ago);
    for (const Program::Write& write : program_.writes)
      if (!instance(write.instance).held) say_written(write);
    for (const Fact& fact : listing_.facts) builder_.fact(fact);
    if (listing_.states_early_loads) builder_.fact({"loads_listed_ahead", slots_.early()});
    Draft draft(builder_.finish(program_.rounds, program_.steps_per_round), !listing_.overlap);
    draft.plan.iterations_per_step = program_.rounds_per_step;
    return draft;
  }

 private:
  using PlaceKey = std::tuple<Program::Home, std::int64_t, std::int32_t>;

  std::vector<SlotMemory> memories() const {
    std::vector<SlotMemory> memories;
    for (std::uint32_t d = 0; d < program_.devices.size(); ++d) {
      memories.push_back({program_.devices[d], program_.bytes(d), {}});
      if (listing_.capacity) memories.back().capacity = (*listing_.capacity)[d];
    }
    return memories;
  }

  const Program::Instance& instance(std::uint32_t number) const {
    return program_.instances[number];
  }

  const Program::Operation& operation(std::int64_t at) const {
    return program_.operations[static_cast<std::size_t>(at)];
  }

  void add_place(const Program::Place& place) {
    const std::uint32_t tensor = builder_.tensor(place.name, place.tensor_class, place.bytes,
                                                 place.node.empty() ? host_ : place.node);
    if (place.home == Program::Home::gradients)
      builder_.sums_gradients(tensor, static_cast<std::int32_t>(place.number));
    places_[{place.home, place.number, place.piece}] = tensor;
  }

  /// Adds the load of a stage's weights that stay on their device. Operation `first_use` is the first that needs them.
  /// Without other instructions (`by_need`), the prologue lists these loads before all others.
  void add_staying(std::size_t s, std::int64_t first_use) {
    const Program::Staying& staying = program_.staying[s];
    if (staying.weights == 0) return;
    SlotLoad load{.tensor = places_.at({Program::Home::weights, static_cast<std::int64_t>(s), 0}),
                  .ends = {.from = host_, .to = program_.devices[staying.device], .release = false},
                  .stage = static_cast<std::int32_t>(s),
                  .slot = first_use,
                  .earliest = std::numeric_limits<std::int64_t>::min(),
                  .once = true};
    const auto beside = [&](const char* what, TensorClass tensor_class, std::int64_t bytes) {
      if (bytes > 0)
        load.beside.push_back(builder_.tensor(instance_name(what, s, -1), tensor_class, bytes));
    };
    beside("gradients", TensorClass::gradient, staying.gradients);
    if (staying.gradients > 0) builder_.sums_gradients(load.beside.back(), load.stage);
    beside("optimizer", TensorClass::optimizer, staying.optimizer);
    slots_.add(std::move(load));
  }

  /// Finds the tensor of the plan for each instance. `places_` already has one tensor for each home from which
  /// instances are loaded. Of the instances that are loaded from the same home, the first gets the tensor that
  /// `places_` has for this home. An instance that is sent from another device is a copy of an instance on that
  /// device. So it gets the tensor of that instance. Every other instance gets a new tensor.
  void add_tensors() {
    std::map<PlaceKey, std::uint32_t> free = places_;
    for (const Program::Instance& made : program_.instances) {
      if (made.sent) {
        tensors_.push_back(tensors_[made.copy_of]);
        continue;
      }
      const bool of_micro_batch = made.home == Program::Home::input;
      const auto place =
          free.find({made.home, of_micro_batch ? made.micro_batch : made.stage, made.piece});
      if (made.home != Program::Home::none && place != free.end()) {
        tensors_.push_back(place->second);
        free.erase(place);
      } else {
        tensors_.push_back(builder_.tensor(listing_.named ? name_of(made) : std::string(),
                                           made.tensor_class, made.bytes));
        // The gradients of boundaries belong to a micro-batch, but those of weights are sums.
        if (made.tensor_class == TensorClass::gradient && made.micro_batch < 0)
          builder_.sums_gradients(tensors_.back(), made.stage);
      }
    }
  }

  SlotLoad slot_load(const Program::Load& load) const {
    const Program::Instance& made = instance(load.instance);
    SlotLoad listed;
    listed.tensor = tensors_[load.instance];
    listed.ends = {.from = host_, .to = program_.node(made.device), .release = false};
    listed.stage = made.stage;
    listed.micro_batch = made.micro_batch;
    listed.slot = load.needed;
    listed.earliest = load.earliest;
    listed.after = load.after;
    listed.within = listing_.loads_within;
    listed.placed = load.placed;
    listed.once = load.once;
    listed.with = load.with;
    if (made.sent) {
      listed.kind = ActionKind::send;
      listed.ends.from = program_.devices[instance(made.copy_of).device];
      listed.ends.release = true;
    } else if (made.copy_of != none) {
      listed.reloads = {saved(made.copy_of, 0)};
    } else if (const auto copies = program_.read_together.find(load.instance);
               copies != program_.read_together.end()) {
      for (const Program::CopyRead& copy : copies->second) {
        listed.reloads.push_back(saved(copy.instance, 0));
        listed.reloads.back().number += copy.number;
      }
    }
    if (load.after_save.instance != none)
      listed.after_save = saved(load.after_save.instance, load.after_save.rounds_ago);
    if (const auto written = writes_.before(load.instance, load.needed))
      listed.after_save = {written->operation, written->number, written->rounds_ago};
    return listed;
  }

  SlotLoad::Saved saved(std::uint32_t number, std::uint32_t rounds_ago) const {
    return {instance(number).saved_at, instance(number).saves, rounds_ago};
  }

  SlotWork list_operation(std::int64_t at) {
    const Program::Operation& operation = this->operation(at);
    const bool transfers = record_of(operation.kind).transfers;
    const PlanBuilder::Ref ref = transfers ? list_transfer(at) : list_computation(operation);
    if (program_.devices.size() > 1 || program_.phases_in_turn) follow_phase(operation, ref);
    operations_.push_back(ref);
    if (operation.selective) builder_.at(ref).part = WorkPart::selective;
    Action& action = builder_.at(ref);
    for (const std::uint32_t made : operation.makes) {
      const std::uint32_t pool = pools_[instance(made).device];
      action.allocates.push_back({tensors_[made], pool});
      if (!transfers && instance(made).last <= at && !is_used(operation, made))
        action.uses.push_back({tensors_[made], pool});
    }
    for (const std::uint32_t used : operation.uses)
      if (!instance(used).held)
        action.uses.push_back({tensors_[used], pools_[instance(used).device]});
    if (operation.workspace > 0) {
      const Placement workspace{
          builder_.tensor(listing_.named ? "workspace." + name_of(action) : std::string(),
                          TensorClass::workspace, operation.workspace),
          pools_[operation.device]};
      builder_.at(ref).allocates.push_back(workspace);
      builder_.at(ref).uses.push_back(
          {.tensor = workspace.tensor, .pool = workspace.pool, .written = true});
    }
    if (operation.ends_micro_batch) builder_.at(ref).samples_done = request_.workload.micro_batch;
    if (listing_.price && !transfers) listing_.price(builder_, ref, at, tensors_);
    if (at + 1 == program_.count_of_round()) last_of_round_ = last_;
    return {ref, ref, list_saves(at, ref)};
  }

  PlanBuilder::Ref list_computation(const Program::Operation& operation) {
    const bool of_micro_batch = operation.micro_batch >= 0;
    return builder_.compute(operation.kind, program_.devices[operation.device], operation.stage,
                            operation.micro_batch,
                            of_micro_batch ? request_.workload.micro_batch : 0);
  }

  PlanBuilder::Ref list_transfer(std::int64_t at) {
    const Program::Transfer& copy = program_.transfers.at(at);
    const auto node = [&](std::uint32_t number) {
      return number == none ? host_ : program_.node(instance(number).device);
    };
    const PlanBuilder::Ref ref =
        builder_.transfer(operation(at).kind, tensors_[copy.to == none ? copy.from : copy.to],
                          {.from = node(copy.from),
                           .to = node(copy.to),
                           .release = false,
                           .allocate = false,
                           .synchronous = copy.synchronous},
                          operation(at).stage, operation(at).micro_batch);
    if (copy.for_next_round) builder_.at(ref).ahead = 1;
    return ref;
  }

  PlanBuilder::Ref action_of(std::int64_t operation) const {
    return operations_[static_cast<std::size_t>(operation)];
  }

  void say_written(const Program::Write& write) {
    const Placement written{tensors_[write.instance], pools_[instance(write.instance).device]};
    auto& uses = builder_.at(action_of(write.operation)).uses;
    const auto used = std::ranges::find(uses, written, &Access::placement);
    if (used != uses.end())
      used->written = true;
    else
      uses.push_back(
          {.tensor = written.tensor, .pool = written.pool, .read = false, .written = true});
  }

  /// If the operation is the first of its phase, makes it wait for the end of the previous phase.
  void follow_phase(const Program::Operation& operation, PlanBuilder::Ref ref) {
    if (!first_) first_ = begin_of_phase_ = ref;
    if (operation.phase != phase_) {
      builder_.wait(ref, last_);
      begin_of_phase_ = ref;
    }
    phase_ = operation.phase;
    last_ = ref;
  }

  /// Returns whether the operation, which makes the instance `made`, also uses it, or the instance is saved.
  bool is_used(const Program::Operation& operation, std::uint32_t made) const {
    return instance(made).saved_at >= 0 ||
           std::find(operation.uses.begin(), operation.uses.end(), made) != operation.uses.end();
  }

  /// Lists the saves after an operation. In the epilogue, these include the saves that the last round leaves to the
  /// next round.
  std::vector<SlotWork::Save> list_saves(std::int64_t at, PlanBuilder::Ref maker) {
    std::vector<SlotWork::Save> saves;
    for (const std::uint32_t number : operation(at).saves) {
      const PlanBuilder::Ref save = list_save(number, maker);
      const auto copies = program_.saved_together.find(number);
      if (copies == program_.saved_together.end()) {
        saves.push_back({save, tensors_[number]});
        continue;
      }
      builder_.at(save).allocates = {};
      for (const Program::Copy& copy : copies->second) {
        saves.push_back(
            {save, builder_.tensor(copy.name, instance(number).tensor_class, copy.bytes)});
        builder_.at(save).allocates.push_back({saves.back().tensor, builder_.pool(host_)});
      }
    }
    if (at >= program_.count_of_round())
      for (const std::uint32_t number : operation(at - program_.count_of_round()).saves)
        if (instance(number).saved_next_round) list_save(number, maker);
    return saves;
  }

  /// Lists the saves that the last round leaves to the next round. No operation follows the last round.
  void list_last_saves() {
    begin_of_phase_ = {};
    for (const Program::Operation& operation : program_.operations)
      for (const std::uint32_t number : operation.saves)
        if (instance(number).saved_next_round) list_save(number, last_of_round_);
  }

  PlanBuilder::Ref list_save(std::uint32_t number, PlanBuilder::Ref maker) {
    const Program::Instance& made = instance(number);
    const PlanBuilder::Ref save = builder_.transfer(
        ActionKind::save, tensors_[number],
        {.from = program_.node(made.device), .to = host_, .allocate = !made.saved_home}, made.stage,
        made.micro_batch);
    if (made.saved_with_phase && begin_of_phase_)
      builder_.start_with(save, begin_of_phase_);
    else
      builder_.wait(save, maker);
    if (made.saved_next_round) builder_.at(save).ahead = -1;
    if (made.answer) {
      builder_.at(save).samples_done = request_.workload.micro_batch;
      answers_.emplace_back(maker, save);
    }
    const bool again = made.saved_next_round && builder_.section() == Section::epilogue;
    (again ? last_saves_[number] : saves_[number]) = save;
    return save;
  }

  /// Adds the waits of phases for saves.
  void wait_for_saves() {
    for (const Program::SaveWait& wait : program_.save_waits) {
      const PlanBuilder::Ref first = action_of(wait.operation);
      const std::uint32_t later = instance(wait.instance).saved_next_round ? 1 : 0;
      if (later > wait.rounds_ago)
        builder_.wait(first, last_saves_.at(wait.instance));
      else
        builder_.wait(first, saves_[wait.instance], wait.rounds_ago - later);
    }
  }

  /// Adds waits to the actions that make answers, so that at most `answer_buffers` answers are on the device.
  void wait_for_answers() {
    const auto count = static_cast<std::int64_t>(answers_.size());
    for (std::int64_t j = 0; j < count && program_.answer_buffers > 0; ++j) {
      const RowPosition earlier = row_position(j - program_.answer_buffers, count);
      builder_.wait(answers_[static_cast<std::size_t>(j)].first, answers_[earlier.index].second,
                    earlier.steps_ago);
    }
  }

  const ProgramListing& listing_;
  const PolicyRequest& request_;
  const Program& program_;
  std::string host_;
  PlanBuilder builder_;
  StepSlots slots_;
  HomeWrites writes_;
  std::map<PlaceKey, std::uint32_t> places_;  ///< indices of tensors
  std::vector<std::uint32_t> pools_;          ///< indexed by device, then by other memory
  std::vector<std::uint32_t> tensors_;        ///< indexed by instance
  std::vector<PlanBuilder::Ref> operations_;
  std::vector<PlanBuilder::Ref> saves_;  ///< indexed by instance
  /// By instance: the saves that the last round leaves to the next round.
  std::map<std::uint32_t, PlanBuilder::Ref> last_saves_;
  /// For each answer: the action that makes it, and the action that saves it.
  std::vector<std::pair<PlanBuilder::Ref, PlanBuilder::Ref>> answers_;
  /// If phases follow each other: the first and the last operation of the round, the first operation of the phase, and
  /// the operation that was listed last.
  PlanBuilder::Ref first_, last_of_round_, begin_of_phase_, last_;
  std::int64_t phase_ = 0;
};

}  // namespace

Draft list_program(const ProgramListing& listing, std::int64_t* most) {
  ProgramLister lister(listing);
  Draft draft = lister.make();
  if (most) *most = lister.most();
  return draft;
}

}  // namespace sluice
