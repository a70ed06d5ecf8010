#include "planning/streaming/program.hpp"

#include <algorithm>
#include <utility>

#include "base/interrupt.hpp"
#include "planning/program_draft.hpp"
#include "planning/slots/row_position.hpp"

namespace sluice {
namespace {

/// Each slot of a step is an operation. So slots and operations have the same numbers.
class StreamedMaker {
 public:
  StreamedMaker(const PolicyRequest& request, const CommonParameters& common,
                const StreamedCase& streamed, const StreamedChoice& choice,
                std::vector<GroupRun> runs, bool stays_from_prologue)
      : request_(request),
        common_(common),
        choice_(choice),
        once_(stays_from_prologue),
        bytes_(streamed_bytes(request, choice.offload)),
        tensors_(group_tensors(request, choice.offload)),
        tensors_of_(tensors_of_stages(tensors_, bytes_.size())),
        runs_(std::move(runs)),
        per_step_(runs_.back().first_micro_batch + runs_.back().count),
        draft_({common.device.name}),
        on_device_(tensors_.size() * static_cast<std::size_t>(per_step_), none) {
    for (std::size_t g = 0; g < bytes_.size(); ++g)
      pieces_.push_back(group_pieces(streamed, choice, g));
    add_places();
    for (std::size_t r = 0; r < runs_.size(); ++r) add_run(r);
    for (std::size_t g = 0; once_ && g < bytes_.size(); ++g)
      for (std::size_t piece = 0; piece < pieces_[g].kept; ++piece)
        draft_[weights_[g][piece]].last = slots() - 1;
    draft_.program.rounds = request.workload.steps;
  }

  Program rehearsed(const Rehearsal& rehearsal, const std::vector<RehearsedLoad>& loads) {
    for (const RehearsedLoad& early : rehearsal.prologue(loads))
      if (early.piece != RehearsedLoad::input &&
          static_cast<std::size_t>(early.piece) < pieces_[runs_[early.run].group].kept)
        load_once(early.run, static_cast<std::size_t>(early.piece), early.at);
    for (const RehearsedLoad& rehearsed : loads) {
      const std::int64_t early = rehearsed.replaces_results ? 2 : 1;
      Program::Load& load =
          add_load(rehearsed.piece == RehearsedLoad::input
                       ? input_at(rehearsed.slot)
                       : weights_[rehearsed.run][static_cast<std::size_t>(rehearsed.piece)],
                   rehearsed.slot, rehearsed.at - early);
      load.earliest = rehearsed.at;
      load.placed = true;
      load.after_save = rehearsed.replaces_results ? all_results_left(rehearsal, rehearsed.at - 1)
                                                   : results_left_at(rehearsal, rehearsed.at);
    }
    wait_for_results(rehearsal.levels());
    return std::move(draft_.program);
  }

  Program as_asked() {
    for (std::size_t g = 0; g < bytes_.size(); ++g)
      for (std::size_t piece = 0; piece < pieces_[g].kept; ++piece) load_once(g, piece, -slots());
    for (std::size_t r = 0; r < runs_.size(); ++r)
      for (std::size_t piece = pieces_[runs_[r].group].kept; piece < weights_[r].size(); ++piece)
        add_load(weights_[r][piece], runs_[r].first_slot,
                 last_slot_of(static_cast<std::int64_t>(r) - choice_.prefetch.value_or(0) - 1));
    std::vector<std::int64_t> slots_of_inputs;  // the slots that need an input of the model
    for (const GroupRun& run : runs_)
      for (std::int64_t m = 0; m < run.count && run.group == 0; ++m)
        slots_of_inputs.push_back(run.first_slot + m);
    for (const GroupRun& run : runs_)
      for (std::int64_t slot = run.first_slot; slot <= run.last_slot() && loads_input(run);
           ++slot) {
        if (run.group > 0) {
          add_load(input_at(slot), slot, std::max(slot - choice_.buffers, slot - run.count));
          continue;
        }
        const RowPosition earlier =
            row_position(micro_batch(run, slot) - choice_.buffers, per_step_);
        add_load(input_at(slot), slot,
                 slots_of_inputs[earlier.index] - earlier.steps_ago * slots());
      }
    for (std::size_t j = 0; j < saves_.size(); ++j)
      wait_for_save(operation_of(saves_[j]), static_cast<std::int64_t>(j) - choice_.buffers);
    return std::move(draft_.program);
  }

 private:
  std::int64_t slots() const { return draft_.next(); }
  bool is_last(const GroupRun& run) const { return run.group + 1 == bytes_.size(); }
  bool loads_input(const GroupRun& run) const {
    return run.group == 0 || choice_.offloads(run.group - 1);
  }
  bool offloads(const GroupRun& run) const { return !is_last(run) && choice_.offloads(run.group); }
  std::int64_t micro_batch(const GroupRun& run, std::int64_t slot) const {
    return run.first_micro_batch + (slot - run.first_slot);
  }
  std::int64_t operation_of(std::uint32_t saved) const {
    return draft_.program.instances[saved].saved_at;
  }
  /// Returns the instance that the slot loads as its input.
  std::uint32_t input_at(std::int64_t slot) const {
    return inputs_[static_cast<std::size_t>(slot)];
  }
  /// Returns the last slot of run r, counted from the first slot of the present step. If r is negative, run r belongs
  /// to an earlier step, and the slot is negative, too.
  std::int64_t last_slot_of(std::int64_t r) const {
    const RowPosition run = row_position(r, static_cast<std::int64_t>(runs_.size()));
    return runs_[run.index].last_slot() - run.steps_ago * slots();
  }

  std::string piece_name(std::size_t g, std::size_t piece) const {
    return "weights." + std::to_string(g) +
           (pieces_[g].bytes.size() > 1 ? "." + std::to_string(piece) : "");
  }

  /// Adds the tensors that a memory holds during the whole run. Each piece of weights has its own home in host memory.
  void add_places() {
    draft_.hold_step(request_, common_.return_outputs);
    for (std::size_t g = 0; g < bytes_.size(); ++g) {
      draft_.hold_cache(request_, g, request_.workload.samples_per_step(), common_.device.name);
      for (std::size_t piece = 0; piece < pieces_[g].bytes.size(); ++piece)
        draft_.program.places.push_back({.home = Program::Home::weights,
                                         .number = static_cast<std::int64_t>(g),
                                         .piece = static_cast<std::int32_t>(piece),
                                         .name = piece_name(g, piece),
                                         .bytes = pieces_[g].bytes[piece]});
    }
  }

  /// Adds the operations of a run, and the instances that these operations need or make.
  void add_run(std::size_t r) {
    const GroupRun& run = runs_[r];
    bring_weights(run);
    for (std::int64_t slot = run.first_slot; slot <= run.last_slot(); ++slot) {
      check_interrupt();
      const std::int64_t q = micro_batch(run, slot);
      Program::Operation operation = draft_.operation(ActionKind::forward, run.group);
      operation.micro_batch = static_cast<std::int32_t>(q);
      operation.workspace = bytes_[run.group].workspace;
      read(operation, run, slot);
      if (slot == run.first_slot || slot == run.last_slot())
        for (std::size_t piece = once_ ? pieces_[run.group].kept : 0; piece < weights_[r].size();
             ++piece)
          draft_.use(operation, weights_[r][piece]);
      const std::uint32_t saved = make(operation, run, q);
      draft_.add(std::move(operation));
      if (saved == none) continue;
      draft_.save_after(saved, slot);
      saves_.push_back(saved);
    }
  }

  /// Adds the instances of a run's weights. A piece that stays is the same instance in all passes. A piece that takes
  /// turns is a new instance in each pass.
  void bring_weights(const GroupRun& run) {
    const GroupPieces& pieces = pieces_[run.group];
    std::vector<std::uint32_t> instances;
    for (std::size_t piece = 0; piece < pieces.bytes.size(); ++piece) {
      if (run.pass > 0 && piece < pieces.kept) {
        instances.push_back(weights_[run.group][piece]);
        continue;
      }
      const std::string pass = run.pass == 0 ? "" : ".pass" + std::to_string(run.pass);
      instances.push_back(draft_.make(piece_name(run.group, piece) + pass, TensorClass::weight,
                                      pieces.bytes[piece], run.group, -1));
      draft_.bring(instances.back(), 0, Program::Home::weights);
      Program::Instance& brought = draft_[instances.back()];
      brought.piece = static_cast<std::int32_t>(piece);
      if (once_ && piece < pieces.kept) brought.first = 0;
    }
    weights_.push_back(std::move(instances));
  }

  /// Makes the operation read its input. In the first group, this is an input of the model. In any other group, it is
  /// what earlier groups have made: each tensor is still on the device, or all of them are loaded as one tensor.
  void read(Program::Operation& operation, const GroupRun& run, std::int64_t slot) {
    const std::int64_t q = micro_batch(run, slot);
    inputs_.push_back(none);
    if (loads_input(run)) {
      inputs_.back() =
          run.group == 0
              ? draft_.make("input." + std::to_string(q), TensorClass::input, bytes_[0].input, 0, q)
              : draft_.make(instance_name("boundary", run.group - 1, q) + ".reloaded",
                            TensorClass::activation, bytes_[run.group].input, run.group, q);
      draft_.bring(inputs_.back(), 0, Program::Home::none);
      draft_.use(operation, inputs_.back());
      if (run.group > 0) read_copies(inputs_.back(), run, slot);
      return;
    }
    for (const std::size_t i : tensors_of_[run.group].reads) draft_.use(operation, on_device(i, q));
  }

  /// Says which copies in host memory the load of `loaded` reads. The copy of the previous group is always one of them:
  /// an input is loaded after this copy has been saved, even if the group reads none of its tensors.
  void read_copies(std::uint32_t loaded, const GroupRun& run, std::int64_t slot) {
    std::vector<Program::CopyRead>& copies = draft_.program.read_together[loaded];
    const auto saved_in = [&](std::size_t group) {
      const auto runs_ago = static_cast<std::int64_t>(run.group - group);
      return results_[static_cast<std::size_t>(slot - run.count * runs_ago)];
    };
    bool waits = false;
    for (const std::size_t i : tensors_of_[run.group].reads) {
      const std::size_t maker = tensors_[i].made_in;
      const std::vector<std::size_t>& made = tensors_of_[maker].makes;
      const auto number = std::find(made.begin(), made.end(), i) - made.begin();
      copies.push_back({saved_in(maker), static_cast<std::size_t>(number)});
      waits = waits || maker + 1 == run.group;
    }
    if (!waits) copies.push_back({saved_in(run.group - 1), 0});
  }

  /// Adds the tensors that the operation makes. Returns the one that is saved, or none.
  std::uint32_t make(Program::Operation& operation, const GroupRun& run, std::int64_t q) {
    const StageBytes& bytes = bytes_[run.group];
    std::uint32_t saved = none;
    results_.push_back(none);
    if (offloads(run)) {
      saved = results_.back() = draft_.make(instance_name("boundary", run.group, q),
                                            TensorClass::activation, bytes.output, run.group, q);
      operation.makes.push_back(saved);
      copy_to_host(saved, run, q);
    } else if (!is_last(run)) {
      for (const std::size_t i : tensors_of_[run.group].makes) {
        on_device(i, q) = draft_.make(tensors_[i], request_.workload.micro_batch, run.group, q);
        operation.makes.push_back(on_device(i, q));
      }
    }
    const std::int64_t answer_bytes = is_last(run) ? bytes.output : bytes.answer;
    operation.ends_micro_batch = is_last(run) && !common_.return_outputs;
    if (!is_last(run) && answer_bytes == 0) return saved;
    const std::uint32_t answer = draft_.make(
        is_last(run) ? "output." + std::to_string(q) : instance_name("output", run.group, q),
        TensorClass::output, answer_bytes, run.group, q);
    operation.makes.push_back(answer);
    draft_[answer].saved_home = common_.return_outputs;
    draft_[answer].answer = is_last(run) && common_.return_outputs;
    return common_.return_outputs ? answer : none;
  }

  /// Says which tensors the save of `saved` leaves in host memory. Different groups may read them.
  void copy_to_host(std::uint32_t saved, const GroupRun& run, std::int64_t q) {
    const std::vector<std::size_t>& made = tensors_of_[run.group].makes;
    if (made.size() <= 1) return;
    std::vector<Program::Copy>& copies = draft_.program.saved_together[saved];
    for (const std::size_t i : made)
      copies.push_back(
          {draft_.name_of(tensors_[i], q), tensors_[i].bytes * request_.workload.micro_batch});
  }

  std::uint32_t& on_device(std::size_t i, std::int64_t q) {
    return on_device_[i * static_cast<std::size_t>(per_step_) + static_cast<std::size_t>(q)];
  }

  Program::Load& add_load(std::uint32_t instance, std::int64_t needed, std::int64_t after) {
    draft_.program.loads.push_back(
        {.instance = instance, .needed = needed, .earliest = after + 1, .after = after});
    return draft_.program.loads.back();
  }

  /// Adds the load of a piece that stays. It is listed before the first step, in the order of `earliest`.
  void load_once(std::size_t run, std::size_t piece, std::int64_t earliest) {
    Program::Load& load = add_load(weights_[run][piece], runs_[run].first_slot, earliest - 1);
    load.once = true;
  }

  /// Makes the operation wait for the save with the number `number` in the step. A negative number is a save of an
  /// earlier step.
  void wait_for_save(std::int64_t operation, std::int64_t number) {
    const RowPosition save = row_position(number, static_cast<std::int64_t>(saves_.size()));
    draft_.program.save_waits.push_back({operation, saves_[save.index], save.steps_ago});
  }

  /// Adds waits for saves, so that during each run no more results are in transfer than the run allows.
  void wait_for_results(const RunLevels& levels) {
    std::int64_t saves = 0;  // before the run
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      const GroupRun& run = runs_[r];
      const std::int64_t results = levels.results(r);
      if (levels.saves(run))
        for (std::int64_t m = 0; m < run.count; ++m, ++saves)
          wait_for_save(run.first_slot + m, saves - results - 1);
      else if (!saves_.empty() && common_.overlap && results < choice_.buffers)
        wait_for_save(run.first_slot, saves - results - 1);
    }
  }

  /// Returns the save for which the loads before `slot` must wait, or none. With this wait, no more results are in
  /// transfer than the slot's run allows. A negative slot belongs to the previous step.
  Program::Load::Saved results_left_at(const Rehearsal& rehearsal, std::int64_t slot) const {
    const std::size_t r = run_at(slot);
    const auto place = static_cast<std::int64_t>(row_position(slot, slots()).index);
    if (runs_[r].first_slot < place || !rehearsal.levels().waits_for_results(r)) return {};
    return save_before(slot, rehearsal.saves_before(r) - 1 - rehearsal.levels().results(r));
  }

  /// Of all saves of earlier slots, returns the save that ends last.
  Program::Load::Saved all_results_left(const Rehearsal& rehearsal, std::int64_t slot) const {
    const std::size_t r = run_at(slot);
    const auto place = static_cast<std::int64_t>(row_position(slot, slots()).index);
    const std::int64_t of_run = rehearsal.saves(runs_[r]) ? place - runs_[r].first_slot : 0;
    return save_before(slot, rehearsal.saves_before(r) + of_run - 1);
  }

  /// Returns the run to which a slot belongs. A slot below 0 belongs to the previous step.
  std::size_t run_at(std::int64_t slot) const {
    const auto place = static_cast<std::int64_t>(row_position(slot, slots()).index);
    const auto after = std::upper_bound(
        runs_.begin(), runs_.end(), place,
        [](std::int64_t sought, const GroupRun& run) { return sought < run.first_slot; });
    return static_cast<std::size_t>(after - runs_.begin()) - 1;
  }

  /// Returns the save with the number `number` in the step that contains `slot`. A negative number is a save of an
  /// earlier step.
  Program::Load::Saved save_before(std::int64_t slot, std::int64_t number) const {
    if (saves_.empty()) return {};
    const RowPosition save = row_position(number, static_cast<std::int64_t>(saves_.size()));
    return {saves_[save.index], row_position(slot, slots()).steps_ago + save.steps_ago};
  }

  const PolicyRequest& request_;
  const CommonParameters& common_;
  const StreamedChoice& choice_;
  bool
      once_;  ///< whether weights that stay are loaded before the first step, and not in its first pass
  std::vector<StageBytes> bytes_;
  std::vector<StageInput> tensors_;       ///< the tensors that go from group to group
  std::vector<StageTensors> tensors_of_;  ///< indexed by group
  std::vector<GroupRun> runs_;
  std::int64_t per_step_;  ///< the number of micro-batches of all runs
  ProgramDraft draft_;
  std::vector<GroupPieces> pieces_;                  ///< indexed by group
  std::vector<std::vector<std::uint32_t>> weights_;  ///< instances, indexed by run and piece
  std::vector<std::uint32_t> inputs_;                ///< the loaded inputs, indexed by slot
  std::vector<std::uint32_t>
      results_;  ///< the results that go to host memory for later groups, indexed by slot
  /// The instances of `tensors_` that stay on the device. Each tensor has one for each micro-batch of a step.
  std::vector<std::uint32_t> on_device_;
  std::vector<std::uint32_t> saves_;  ///< the saved instances, in the order of their saves
};

}  // namespace

Program rehearsed_program(const PolicyRequest& request, const CommonParameters& common,
                          const Rehearsal& rehearsal, const std::vector<RehearsedLoad>& loads) {
  const StreamedCase& streamed = rehearsal.streamed();
  return StreamedMaker(request, common, streamed, rehearsal.choice(), rehearsal.runs(),
                       kept_in_prologue(streamed))
      .rehearsed(rehearsal, loads);
}

Program program_as_asked(const PolicyRequest& request, const CommonParameters& common,
                         const StreamedCase& streamed, const StreamedChoice& choice,
                         const std::optional<SomeRounds>& shorter) {
  return StreamedMaker(request, common, streamed, choice, runs_of(streamed, choice, shorter),
                       /*stays_from_prologue=*/true)
      .as_asked();
}

}  // namespace sluice
