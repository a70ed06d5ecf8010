#include "planning/streaming/listing.hpp"

#include <algorithm>

#include "base/quantity.hpp"
#include "planning/program.hpp"
#include "planning/streaming/fit.hpp"
#include "planning/streaming/stage_lister.hpp"

namespace sluice {
namespace {

class StreamedLister {
 public:
  StreamedLister(const PolicyRequest& request, const CommonParameters& common,
                 const StreamedCase& streamed, const StreamedChoice& choice,
                 std::vector<std::int64_t> slot_bytes, std::optional<std::int64_t> capacity)
      : request_(request),
        common_(common),
        choice_(choice),
        once_(kept_in_prologue(streamed)),
        bytes_(streamed_bytes(request, choice.offload)),
        tensors_(group_tensors(request, choice.offload)),
        tensors_of_(tensors_of_stages(tensors_, bytes_.size())),
        per_step_(request.workload.micro_batches_per_step()),
        runs_(group_runs(bytes_.size(), per_step_, choice.in_flight)),
        builder_(request.pricing.platform, "streamed", request.capacity_enforced),
        lister_(builder_, request, common_, bytes_),
        slots_(builder_, {{common.device.name, std::move(slot_bytes), capacity}}) {
    lister_.hold_caches();
    for (std::size_t g = 0; g < bytes_.size(); ++g)
      pieces_.push_back(group_pieces(streamed, choice, g));
    held_.resize(tensors_.size() * static_cast<std::size_t>(per_step_), none);
    make_tensors();
  }

  void add(const Rehearsal& rehearsal) {
    const std::vector<RehearsedLoad> loads = rehearsal.order().loads;
    for (const RehearsedLoad& early : rehearsal.prologue(loads))
      if (early.piece != RehearsedLoad::input &&
          static_cast<std::size_t>(early.piece) < pieces_[runs_[early.run].group].kept)
        add_once(early.run, static_cast<std::size_t>(early.piece), early.at);
    for (const RehearsedLoad& rehearsed : loads) {
      const GroupRun& run = runs_[rehearsed.run];
      SlotLoad load = rehearsed.piece == RehearsedLoad::input
                          ? input_load(run, rehearsed.slot)
                          : weight_load(rehearsed.run, static_cast<std::size_t>(rehearsed.piece));
      load.after = rehearsed.at - (rehearsed.replaces_results ? 2 : 1);
      load.earliest = rehearsed.at;
      load.after_save = rehearsed.replaces_results ? all_results_left(rehearsal, rehearsed.at - 1)
                                                   : results_left_at(rehearsal, rehearsed.at);
      slots_.add(std::move(load));
    }
    for (std::size_t r = 0; r < runs_.size(); ++r)
      results_.push_back(rehearsal.levels().results(r));
  }

  /// Adds each load as early as memory allows: weights at most `prefetch` groups early, inputs at most `buffers` slots
  /// early.
  void add_as_asked() {
    once_ = true;
    for (std::size_t g = 0; g < bytes_.size(); ++g)
      for (std::size_t piece = 0; piece < pieces_[g].kept; ++piece)
        add_once(g, piece, -slots_.count());
    for (std::size_t r = 0; r < runs_.size(); ++r)
      for (std::size_t piece = kept(r); piece < pieces_[runs_[r].group].bytes.size(); ++piece) {
        SlotLoad load = weight_load(r, piece);
        load.after = last_slot_of(static_cast<std::int64_t>(r) - choice_.prefetch.value_or(0) - 1);
        load.earliest = load.after + 1;
        slots_.add(std::move(load));
      }
    std::vector<std::int64_t> slots;  // the slots that need an input of the model, in order
    for (const GroupRun& run : runs_)
      for (std::int64_t m = 0; m < run.count && run.group == 0; ++m)
        slots.push_back(run.first_slot + m);
    for (const GroupRun& run : runs_)
      for (std::int64_t slot = run.first_slot; slot <= run.last_slot() && loads_input(run);
           ++slot) {
        SlotLoad load = input_load(run, slot);
        if (run.group == 0) {
          const RowPosition earlier = row_position(
              run.first_micro_batch + slot - run.first_slot - choice_.buffers, per_step_);
          load.after = slots[earlier.index] - earlier.steps_ago * slots_.count();
        } else {
          load.after = std::max(slot - choice_.buffers, slot - run.count);
        }
        load.earliest = load.after + 1;
        slots_.add(std::move(load));
      }
  }

  /// Returns the most bytes that the device holds in any slot, with early loads.
  std::int64_t most() { return slots_.most(common_.device.name); }

  Draft make() {
    std::size_t run = 0;
    slots_.list([&](std::int64_t slot) {
      while (slot > runs_[run].last_slot()) ++run;
      return list_slot(run, slot);
    });
    if (results_.empty())
      lister_.finish();
    else
      wait_for_results();
    state_facts();
    return {builder_.finish(request_.workload.steps), !common_.overlap};
  }

 private:
  bool loads_input(const GroupRun& run) const {
    return run.group == 0 || choice_.offloads(run.group - 1);
  }
  /// Returns whether the outputs of a run, or the parts of answers that it makes, go to host memory.
  bool saves(const GroupRun& run) const {
    if (run.group + 1 < bytes_.size() && choice_.offloads(run.group)) return true;
    const bool answers = run.group + 1 == bytes_.size() || bytes_[run.group].answer > 0;
    return answers && common_.return_outputs;
  }

  /// Returns the save for which the loads before `slot` must wait, or an empty result if they need not wait. With
  /// this wait, no more results are in transfer than the slot's run allows. A negative slot belongs to the previous
  /// step.
  SlotLoad::Saved results_left_at(const Rehearsal& rehearsal, std::int64_t slot) const {
    const std::size_t r = run_at(slot);
    const auto place = static_cast<std::int64_t>(row_position(slot, slots_.count()).index);
    if (runs_[r].first_slot < place || !rehearsal.levels().waits_for_results(r)) return {};
    return save_before(rehearsal, slot,
                       rehearsal.saves_before(r) - 1 - rehearsal.levels().results(r));
  }

  /// Of all saves of earlier slots, returns the save that ends last.
  SlotLoad::Saved all_results_left(const Rehearsal& rehearsal, std::int64_t slot) const {
    const std::size_t r = run_at(slot);
    const auto place = static_cast<std::int64_t>(row_position(slot, slots_.count()).index);
    const std::int64_t of_run = saves(runs_[r]) ? place - runs_[r].first_slot : 0;
    return save_before(rehearsal, slot, rehearsal.saves_before(r) + of_run - 1);
  }

  /// Returns the run to which a slot belongs. A slot below 0 belongs to the previous step.
  std::size_t run_at(std::int64_t slot) const {
    const auto place = static_cast<std::int64_t>(row_position(slot, slots_.count()).index);
    const auto after = std::upper_bound(
        runs_.begin(), runs_.end(), place,
        [](std::int64_t sought, const GroupRun& run) { return sought < run.first_slot; });
    return static_cast<std::size_t>(after - runs_.begin()) - 1;
  }

  /// Returns the save with the number `number` in the step that contains `slot`. A negative number is a save of an
  /// earlier step.
  SlotLoad::Saved save_before(const Rehearsal& rehearsal, std::int64_t slot,
                              std::int64_t number) const {
    if (rehearsal.saves_of_step() == 0) return {};
    const RowPosition save = row_position(number, rehearsal.saves_of_step());
    return {.slot = rehearsal.slot_of_save(static_cast<std::int64_t>(save.index)),
            .number = 0,
            .steps_ago = row_position(slot, slots_.count()).steps_ago + save.steps_ago};
  }

  /// Adds waits for saves, so that during each run no more results are in transfer than the run allows.
  void wait_for_results() {
    std::vector<std::int64_t> together;
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      if (saves(runs_[r])) {
        together.insert(together.end(), static_cast<std::size_t>(runs_[r].count), results_[r] + 1);
      } else if (!saves_.empty() && common_.overlap && results_[r] < choice_.buffers) {
        const RowPosition save =
            row_position(static_cast<std::int64_t>(together.size()) - 1 - results_[r],
                         static_cast<std::int64_t>(saves_.size()));
        builder_.wait(first_of_run_[r], saves_[save.index], save.steps_ago);
      }
    }
    lister_.finish(together);
  }

  static std::string piece_name(std::size_t group, std::size_t piece, std::size_t pieces) {
    return "weights." + std::to_string(group) + (pieces > 1 ? "." + std::to_string(piece) : "");
  }

  /// Makes the tensors of the weights. A piece that stays is the same tensor in all passes. A piece that takes turns is
  /// a new tensor in each pass.
  void make_tensors() {
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      const GroupRun& run = runs_[r];
      const std::vector<std::int64_t>& sizes = pieces_[run.group].bytes;
      std::vector<std::uint32_t> made;
      for (std::size_t piece = 0; piece < sizes.size(); ++piece) {
        const std::string name = piece_name(run.group, piece, sizes.size());
        if (run.pass == 0)
          made.push_back(builder_.tensor(name, TensorClass::weight, sizes[piece], common_.host));
        else if (piece < kept(r))
          made.push_back(weights_[run.group][piece]);
        else
          made.push_back(builder_.tensor(name + ".pass" + std::to_string(run.pass),
                                         TensorClass::weight, sizes[piece]));
      }
      weights_.push_back(std::move(made));
    }
    reloads_.resize(static_cast<std::size_t>(slots_.count()), none);
  }

  /// Returns how many pieces of a run's weights stay on the device. `run` is the index of the run.
  std::size_t kept(std::size_t run) const { return pieces_[runs_[run].group].kept; }

  void add_once(std::size_t run, std::size_t piece, std::int64_t at) {
    SlotLoad load = weight_load(run, piece);
    load.earliest = at;
    load.once = true;
    slots_.add(std::move(load));
  }

  /// Returns the last slot of run r, counted from the first slot of the present step. If r is negative, run r belongs
  /// to an earlier step, and the slot is negative, too.
  std::int64_t last_slot_of(std::int64_t r) const {
    const RowPosition run = row_position(r, static_cast<std::int64_t>(runs_.size()));
    return runs_[run.index].last_slot() - run.steps_ago * slots_.count();
  }

  SlotLoad weight_load(std::size_t r, std::size_t piece) {
    SlotLoad load;
    load.tensor = weights_[r][piece];
    load.ends = {.from = common_.host, .to = common_.device.name, .release = false};
    load.stage = static_cast<std::int32_t>(runs_[r].group);
    load.slot = runs_[r].first_slot;
    return load;
  }

  std::int64_t micro_batch(const GroupRun& run, std::int64_t slot) const {
    return run.first_micro_batch + (slot - run.first_slot);
  }

  /// Returns the load of a slot's input. In group 0, this is an input of the model. In any other group, these are the
  /// tensors that the group reads, which earlier groups saved.
  SlotLoad input_load(const GroupRun& run, std::int64_t slot) {
    const std::int64_t q = micro_batch(run, slot);
    if (run.group == 0) return lister_.input_load(q, slot);
    SlotLoad load;
    load.tensor = builder_.tensor(
        "boundary." + std::to_string(run.group - 1) + "." + std::to_string(q) + ".reloaded",
        TensorClass::activation, bytes_[run.group].input);
    load.ends = {.from = common_.host, .to = common_.device.name, .release = false};
    load.stage = static_cast<std::int32_t>(run.group);
    load.micro_batch = static_cast<std::int32_t>(q);
    load.slot = slot;
    load.reloads = copies_for(run, slot);
    reloads_[static_cast<std::size_t>(slot)] = load.tensor;
    return load;
  }

  /// Returns the saves that wrote the copies that a slot reads. The previous group's save is always one of them: an
  /// input is loaded after this save, even if the group reads none of its tensors.
  std::vector<SlotLoad::Saved> copies_for(const GroupRun& run, std::int64_t slot) const {
    std::vector<SlotLoad::Saved> saved;
    bool waits = false;
    for (const std::size_t i : tensors_of_[run.group].reads) {
      const std::size_t maker = tensors_[i].made_in;
      const std::vector<std::size_t>& made = tensors_of_[maker].makes;
      saved.push_back({.slot = slot - run.count * static_cast<std::int64_t>(run.group - maker),
                       .number = static_cast<std::size_t>(std::find(made.begin(), made.end(), i) -
                                                          made.begin())});
      waits = waits || maker + 1 == run.group;
    }
    if (!waits) saved.push_back({.slot = slot - run.count});
    return saved;
  }

  /// Returns the copies that a save of activations leaves in host memory. Different groups may read them, so each of
  /// them is a tensor of its own.
  std::vector<SlotWork::Save> copies_in_host(const GroupRun& run, std::int64_t micro_batch,
                                             PlanBuilder::Ref save, std::uint32_t output) {
    const std::vector<std::size_t>& made = tensors_of_[run.group].makes;
    if (made.size() <= 1) return {{save, output}};
    std::vector<SlotWork::Save> copies;
    builder_.at(save).allocates = {};
    for (const std::size_t i : made) {
      const std::uint32_t copy = add_tensor(i, micro_batch);
      builder_.at(save).allocates.push_back({copy, builder_.pool(common_.host)});
      copies.push_back({save, copy});
    }
    return copies;
  }

  /// Adds the tensor `tensors_[i]` of a micro-batch to the plan.
  std::uint32_t add_tensor(std::size_t i, std::int64_t micro_batch) {
    const StageInput& tensor = tensors_[i];
    return builder_.tensor(
        instance_name(tensor.name.empty() ? "boundary" : "boundary." + tensor.name, tensor.made_in,
                      micro_batch),
        TensorClass::activation, tensor.bytes * request_.workload.micro_batch);
  }

  std::uint32_t& held(std::size_t i, std::int64_t micro_batch) {
    return held_[i * static_cast<std::size_t>(per_step_) + static_cast<std::size_t>(micro_batch)];
  }

  /// Returns the tensors on the device that a slot reads.
  std::vector<std::uint32_t> read(const GroupRun& run, std::int64_t slot) {
    if (run.group == 0) return {lister_.input_tensor(micro_batch(run, slot))};
    if (loads_input(run)) return {reloads_[static_cast<std::size_t>(slot)]};
    std::vector<std::uint32_t> tensors;
    for (const std::size_t i : tensors_of_[run.group].reads)
      tensors.push_back(held(i, micro_batch(run, slot)));
    return tensors;
  }

  /// Adds the tensors that stay on the device for later groups. Returns none if the group's tensors do not stay.
  std::vector<std::uint32_t> make_held(const GroupRun& run, std::int64_t micro_batch) {
    std::vector<std::uint32_t> tensors;
    if (choice_.offloads(run.group)) return tensors;
    for (const std::size_t i : tensors_of_[run.group].makes)
      tensors.push_back(held(i, micro_batch) = add_tensor(i, micro_batch));
    return tensors;
  }

  SlotWork list_slot(std::size_t r, std::int64_t slot) {
    const GroupRun& run = runs_[r];
    const std::int64_t q = micro_batch(run, slot);
    const StageOutput made = lister_.forward(run.group, q, read(run, slot), make_held(run, q));
    // If no later group reads anything that this group makes, its output has no bytes, and leaves at once.
    if (run.group + 1 < bytes_.size() && !choice_.offloads(run.group) &&
        tensors_of_[run.group].makes.empty())
      builder_.at(made.action).uses.push_back({made.output, builder_.pool(common_.device.name)});
    if (slot == run.first_slot || slot == run.last_slot())
      for (std::size_t piece = once_ ? kept(r) : 0; piece < weights_[r].size(); ++piece)
        builder_.at(made.action)
            .uses.push_back({weights_[r][piece], builder_.pool(common_.device.name)});
    SlotWork work{made.action, made.action};
    if (slot == run.first_slot) first_of_run_.push_back(made.action);
    if (saves(run)) {
      saves_.push_back(
          lister_.save(made, run.group, q, run.group + 1 == bytes_.size() || made.answer != none));
      if (run.group + 1 < bytes_.size() && choice_.offloads(run.group))
        work.saves = copies_in_host(run, q, saves_.back(), made.output);
      else
        work.saves = {{saves_.back(), made.answer != none ? made.answer : made.output}};
    }
    return work;
  }

  void state_facts() {
    const std::int64_t passes = runs_.back().pass + 1;
    builder_.fact({"in_flight", choice_.in_flight});
    builder_.fact({"passes_per_step", passes});
    std::int64_t resident = 0;
    for (std::size_t g = 0; g < bytes_.size(); ++g) {
      const bool stays = bytes_.size() == 1 || choice_.resident_of(g) == bytes_[g].weights;
      resident += choice_.resident_of(g);
      builder_.fact(Fact("weight_passes", stays ? 1 : passes * request_.workload.steps)
                        .said_of(std::to_string(g)));
    }
    if (resident > 0) builder_.fact({"resident_bytes", resident, "byte"});
    builder_.fact({"loads_listed_ahead", slots_.early()});
  }

  const PolicyRequest& request_;
  CommonParameters common_;
  StreamedChoice choice_;
  bool once_;  ///< Whether weights that stay are loaded in the prologue and never released.
  std::vector<StageBytes> bytes_;
  std::vector<StageInput> tensors_;       ///< the tensors that go from group to group
  std::vector<StageTensors> tensors_of_;  ///< indexed by group
  /// The tensors that stay on the device from the group that makes them to the last group that reads them. The elements
  /// of `tensors_` have one after the other an entry for each micro-batch of a step.
  std::vector<std::uint32_t> held_;
  std::int64_t per_step_;
  std::vector<GroupRun> runs_;
  PlanBuilder builder_;
  StageLister lister_;
  StepSlots slots_;
  std::vector<GroupPieces> pieces_;                  ///< indexed by group
  std::vector<std::vector<std::uint32_t>> weights_;  ///< indexed by run and piece
  std::vector<std::uint32_t> reloads_;  ///< the tensor that is loaded again, indexed by slot
  /// Indexed by run: how many results of other slots may be in transfer during the run, as the rehearsal says. Without
  /// a rehearsal, the list is empty. Then `buffers` is the limit for all runs.
  std::vector<std::int64_t> results_;
  std::vector<PlanBuilder::Ref> first_of_run_, saves_;
};

CommonParameters with_buffers(const CommonParameters& common, const StreamedChoice& choice) {
  CommonParameters changed = common;
  changed.buffers = choice.buffers;
  return changed;
}

}  // namespace

Draft list_rehearsed(const PolicyRequest& request, const CommonParameters& common,
                     const Rehearsal& rehearsal) {
  const StreamedChoice& choice = rehearsal.choice();
  std::vector<std::int64_t> levels(static_cast<std::size_t>(rehearsal.slots()), 0);
  StreamedLister lister(request, with_buffers(common, choice), rehearsal.streamed(), choice,
                        std::move(levels), {});
  lister.add(rehearsal);
  return lister.make();
}

Draft list_as_asked(const PolicyRequest& request, const CommonParameters& common,
                    const StreamedChoice& choice) {
  const StreamedFit fit(request, common, choice);
  const StreamedCase streamed = streamed_case(request, common, choice.offload);
  Draft draft = list_within(request, common, streamed, choice, fit, fit.capacity()).draft;
  fit.require(choice.in_flight, draft);
  return draft;
}

ListedDraft list_within(const PolicyRequest& request, const CommonParameters& common,
                        const StreamedCase& streamed, const StreamedChoice& choice,
                        const StreamedFit& fit, std::optional<std::int64_t> room) {
  StreamedLister lister(request, with_buffers(common, choice), streamed, choice,
                        fit.slot_bytes(choice.in_flight), room);
  lister.add_as_asked();
  const std::int64_t used = lister.most();
  return {lister.make(), used};
}

}  // namespace sluice
