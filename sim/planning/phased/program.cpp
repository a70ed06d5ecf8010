#include "planning/phased/program.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "planning/placement/computing_devices.hpp"
#include "planning/program_draft.hpp"
#include "planning/program_listing.hpp"
#include "planning/stage_bytes.hpp"
#include "stage/stage_inputs.hpp"

namespace sluice {

namespace {

class PhasedMaker {
 public:
  PhasedMaker(const PolicyRequest& request, const PhaseRules& rules)
      : request_(request),
        rules_(rules),
        bytes_(stage_bytes(request)),
        inputs_(stage_inputs(request.pricing.model, request.pricing.stages)),
        tensors_(tensors_of_stages(inputs_, bytes_.size())),
        draft_(each_once(rules.devices)) {}

  Program make() {
    const Workload& workload = request_.workload;
    const PhaseRound round = round_of(rules_, workload, bytes_.size());
    Program& program = draft_.program;
    add_places();
    add_caches();
    add_phases(phases_of(rules_, workload, bytes_.size(), round.unit_batches, round.units));
    round_phases_ = count_of_phases();
    round_operations_ = program.count();
    save_after_round();
    if (round.rest > 0) {
      add_phases(phases_of(rules_, workload, bytes_.size(), round.unit_batches, round.rest));
      save_results(phases_.back(), program.count() - 1);
    }
    for (std::int64_t p = 0; p < count_of_phases(); ++p)
      if (!phase(p).is_idle()) add_waits(p);
    program.phases_in_turn = true;
    program.rest = program.count() - round_operations_;
    program.rounds = round.iterations;
    program.rounds_per_step = round.iterations_per_step;
    program.steps_per_round = round.steps_per_iteration;
    return std::move(program);
  }

 private:
  struct ListedPhase {
    Phase phase;
    /// The first and the last operation of the phase. For an idle phase, `last` is that of the phase before it.
    std::int64_t first = -1, last = -1;
    std::vector<std::uint32_t> results, saved;  ///< instances

    bool is_idle() const { return phase.is_idle(); }
  };

  std::int64_t count_of_phases() const { return static_cast<std::int64_t>(phases_.size()); }
  bool is_last(std::size_t stage) const { return stage + 1 == bytes_.size(); }
  std::uint32_t device_of(const Phase& phase) const {
    const std::vector<std::string>& all = draft_.program.devices;
    return static_cast<std::uint32_t>(std::find(all.begin(), all.end(), phase.device) -
                                      all.begin());
  }

  /// Adds the tensors that host memory holds during the whole run: the weights, the inputs and the answers.
  void add_places() {
    if (rules_.real_data) draft_.hold_step(request_, rules_.saves_answers());
    for (std::size_t stage = 0; stage < bytes_.size(); ++stage)
      draft_.hold_weights(stage, bytes_[stage].weights);
  }

  /// Adds the caches, which devices hold during the whole run and use again in each step. For each sample, a stage must
  /// be computed on the same device in all steps. Otherwise the stage's cache would have to be moved to another device.
  void add_caches() {
    const std::vector<Stage>& stages = request_.pricing.stages;
    if (std::none_of(stages.begin(), stages.end(),
                     [](const Stage& stage) { return stage.cache_bytes > 0; }))
      return;
    const Workload& workload = request_.workload;
    const PhaseRound round = round_of_steps(rules_, workload, bytes_.size());
    // The device of each stage and micro-batch of a step.
    std::map<std::pair<std::size_t, std::int64_t>, std::string> devices;
    std::map<std::pair<std::size_t, std::string>, std::int64_t> samples;
    for (const Phase& phase :
         phases_of(rules_, workload, bytes_.size(), round.unit_batches, round.units)) {
      if (stages[phase.stage].cache_bytes == 0) continue;
      for (const std::int64_t q : phase.micro_batches) {
        const auto [found, fresh] =
            devices.try_emplace({phase.stage, q % workload.micro_batches_per_step()}, phase.device);
        if (fresh) samples[{phase.stage, phase.device}] += workload.micro_batch;
        if (found->second != phase.device)
          throw InputError(
              "stage " + stages[phase.stage].name + " of one sample would be computed on " +
              found->second + " and, a step later, on " + phase.device +
              ", but its cache of keys and values cannot move: give one device per stage in "
              "'phases.devices', or one device in 'policy.device'");
      }
    }
    for (const auto& [at, count] : samples) draft_.hold_cache(request_, at.first, count, at.second);
  }

  /// Adds the phases of a window: of one round, or of the units after the last round (PhaseRound).
  void add_phases(std::vector<Phase> phases) {
    held_.clear();
    const std::size_t begin = phases_.size();
    for (std::size_t p = 0; p < phases.size(); ++p) {
      const bool followed = p + 1 < phases.size() && phases[p + 1].stage == phases[p].stage + 1 &&
                            phases[p + 1].micro_batches == phases[p].micro_batches;
      phases_.push_back({std::move(phases[p])});
      ListedPhase& listed = phases_.back();
      if (listed.is_idle())
        listed.last = phases_[begin + p - 1].last;
      else
        add_operations(listed, followed);
      if (!rules_.overlap)
        save_results(listed, listed.last);
      else if (p > 0 && listed.is_idle())
        save_results(phases_[begin + p - 1], listed.last);
      else if (p > 0)
        save_with_phase(phases_[begin + p - 1], listed.last);
    }
  }

  /// Adds the operations of a phase. `followed` says whether the next phase needs the results of this phase. If so,
  /// results that go through host memory are saved as soon as they have been made.
  void add_operations(ListedPhase& listed, bool followed) {
    const Phase& phase = listed.phase;
    const std::size_t stage = phase.stage;
    draft_.go_to(device_of(phase));
    listed.first = draft_.next();
    std::vector<std::uint32_t> loads;
    if (bytes_[stage].weights > 0) {
      loads.push_back(draft_.make(instance_name("weights", stage, -1), TensorClass::weight,
                                  bytes_[stage].weights, stage, -1));
      draft_.bring(loads.back(), 0, Program::Home::weights);
    }
    const std::vector<std::uint32_t> weights = loads;
    std::vector<std::vector<std::uint32_t>> read;
    for (const std::int64_t q : phase.micro_batches) read.push_back(bring_inputs(stage, q, loads));
    for (std::size_t m = 0; m < phase.micro_batches.size(); ++m) {
      check_interrupt();
      const std::int64_t q = phase.micro_batches[m];
      Program::Operation operation = draft_.operation(ActionKind::forward, stage);
      operation.micro_batch = static_cast<std::int32_t>(q);
      operation.workspace = bytes_[stage].workspace;
      if (m == 0)
        for (const std::uint32_t load : loads) operation.loads.push_back(load);
      for (const std::uint32_t used : weights) draft_.use(operation, used);
      for (const std::uint32_t used : read[m]) draft_.use(operation, used);
      const std::vector<std::uint32_t> results = make_results(stage, q);
      for (const std::uint32_t made : results) operation.makes.push_back(made);
      operation.ends_micro_batch = is_last(stage) && !rules_.saves_answers();
      draft_.add(std::move(operation));
      listed.results.insert(listed.results.end(), results.begin(), results.end());
      if (followed && rules_.saves_boundaries()) save_results(listed, draft_.next() - 1);
    }
    listed.last = draft_.next() - 1;
    draft_.end_phase();
  }

  /// Brings the tensors that a stage reads to its device, for one micro-batch. Returns their instances, and adds the
  /// instances that must be loaded to `loads`. Tensors that go through host memory are loaded for each stage that reads
  /// them. Other inputs of the model are loaded once, with the inputs of the first stage.
  std::vector<std::uint32_t> bring_inputs(std::size_t stage, std::int64_t q,
                                          std::vector<std::uint32_t>& loads) {
    if (stage == 0 && rules_.real_data && !rules_.saves_boundaries())
      for (std::size_t i = 0; i < inputs_.size(); ++i)
        if (inputs_[i].of_model) bring(i, stage, q, loads);
    std::vector<std::uint32_t> read;
    for (const std::size_t i : tensors_[stage].reads)
      if (rules_.real_data || !inputs_[i].of_model) read.push_back(bring(i, stage, q, loads));
    return read;
  }

  std::uint32_t bring(std::size_t i, std::size_t stage, std::int64_t q,
                      std::vector<std::uint32_t>& loads) {
    std::vector<std::uint32_t>& copies = held_[{i, q}];
    const bool through_host = rules_.saves_boundaries();
    if (!through_host)
      for (const std::uint32_t copy : copies)
        if (rules_.activations == Activations::on_chip || draft_[copy].device == draft_.device())
          return copy;
    if (through_host || copies.empty()) {
      loads.push_back(draft_.make(inputs_[i], request_.workload.micro_batch, stage, q));
      draft_.bring(loads.back(), 0, Program::Home::none, copies.empty() ? none : copies.front());
    } else {
      loads.push_back(draft_.send(request_.pricing.platform, copies, stage));
    }
    if (!through_host) copies.push_back(loads.back());
    return loads.back();
  }

  /// Adds the tensors that a stage makes for one micro-batch.
  std::vector<std::uint32_t> make_results(std::size_t stage, std::int64_t q) {
    std::vector<std::uint32_t> results;
    for (const std::size_t i : tensors_[stage].makes) {
      results.push_back(draft_.make(inputs_[i], request_.workload.micro_batch, stage, q));
      held_[{i, q}] = {results.back()};
    }
    if (!is_last(stage)) return results;
    results.push_back(draft_.make("output." + std::to_string(q), TensorClass::output,
                                  bytes_[stage].output, stage, q));
    draft_[results.back()].saved_home = rules_.saves_answers();
    draft_[results.back()].answer = rules_.saves_answers();
    return results;
  }

  /// Saves the results of a phase that have not been saved yet, after `operation`. Returns these results.
  std::span<const std::uint32_t> save_results(ListedPhase& listed, std::int64_t operation) {
    const std::size_t before = listed.saved.size();
    if (is_last(listed.phase.stage) ? rules_.saves_answers() : rules_.saves_boundaries())
      for (std::size_t r = before; r < listed.results.size(); ++r) {
        draft_.save_after(listed.results[r], operation);
        listed.saved.push_back(listed.results[r]);
      }
    return std::span(listed.saved).subspan(before);
  }
  /// The same, but the results are saved while the phase of `operation` runs.
  std::span<const std::uint32_t> save_with_phase(ListedPhase& listed, std::int64_t operation) {
    const std::span<const std::uint32_t> saved = save_results(listed, operation);
    for (const std::uint32_t result : saved) draft_[result].saved_with_phase = true;
    return saved;
  }

  /// Saves the results of the last phase of a round during the first phase of the next round.
  void save_after_round() {
    for (const std::uint32_t result : save_with_phase(phases_.back(), phases_.front().last))
      draft_[result].saved_next_round = true;
  }

  /// A phase of this round, or of the rest after the last round. Its number may be negative. Then it is a phase of an
  /// earlier round.
  const ListedPhase& phase(std::int64_t number) const {
    return phases_[row_position(number, round_phases_).index];
  }
  std::uint32_t rounds_ago(std::int64_t number) const {
    return row_position(number, round_phases_).steps_ago;
  }
  /// Returns the index of an operation of the phase with this number, counted from this round. It is negative for
  /// an earlier round.
  std::int64_t operation_at(std::int64_t number, std::int64_t operation) const {
    return operation - rounds_ago(number) * round_operations_;
  }

  /// Returns how many phases ago the device of phase p had its previous phase.
  std::int64_t phases_since_device(std::int64_t p) const {
    if (!rules_.by_stage) return static_cast<std::int64_t>(rules_.devices.size());
    std::int64_t back = 1;
    while (phase(p - back).phase.device != phase(p).phase.device) ++back;
    return back;
  }

  void add_waits(std::int64_t p) {
    const std::int64_t turn = phases_since_device(p);
    const std::int64_t two = std::max<std::int64_t>(turn, 2);
    add_save_waits(p, turn, two);
    add_loads(p, rules_.preload ? two - 1 : 0);
  }

  /// Makes phase p wait for the saves of the results of its device's previous phase. Idle phases are skipped. If phase
  /// p - 1 ran on the same device, its results are saved only during phase p. So then phase p waits for the saves of
  /// the results of phase p - 2.
  void add_save_waits(std::int64_t p, std::int64_t turn, std::int64_t back) {
    while (phase(p - back).is_idle()) back += turn;
    for (const std::uint32_t saved : phase(p - back).saved)
      draft_.program.save_waits.push_back({phase(p).first, saved, rounds_ago(p - back)});
  }

  /// Adds the loads of phase p. They may start when phase p - `early` starts. If devices take turns, this is when the
  /// device of phase p has ended its previous phase. With one device, it is when the phase before phase p starts. If
  /// `early` is 0, the loads start when the phase before phase p has ended.
  void add_loads(std::int64_t p, std::int64_t early) {
    const ListedPhase& mine = phase(p);
    const std::int64_t before = p - early - 1;
    const std::int64_t after = operation_at(before, phase(before).last);
    // A copy engine makes its transfers in order. So only the first transfer of each engine has to wait for the phase.
    // Tensors of different classes may get different engines, because they may be placed in different memories.
    std::set<std::pair<std::uint32_t, TensorClass>> waiting;
    for (const std::uint32_t number :
         draft_.program.operations[static_cast<std::size_t>(mine.first)].loads) {
      const Program::Instance& loaded = draft_[number];
      Program::Load load{
          .instance = number, .needed = mine.first, .earliest = mine.first, .after = after};
      load.placed = true;
      std::uint32_t from = none;
      if (loaded.sent) {
        const Program::Instance& source = draft_[loaded.copy_of];
        load.after = std::max(after, source.first);
        from = source.device;
      }
      if (waiting.insert({from, loaded.tensor_class}).second && early > 0 &&
          !phase(p - early).is_idle())
        load.with = operation_at(p - early, phase(p - early).first);
      draft_.program.loads.push_back(load);
    }
  }

  const PolicyRequest& request_;
  const PhaseRules& rules_;
  std::vector<StageBytes> bytes_;
  std::vector<StageInput> inputs_;
  std::vector<StageTensors> tensors_;  ///< indexed by stage
  ProgramDraft draft_;
  std::vector<ListedPhase>
      phases_;  ///< the phases of a round, and after them those that run once, after all rounds
  std::int64_t round_phases_ = 0,
               round_operations_ = 0;  ///< the numbers of phases and operations of a round
  /// By index of `inputs_` and micro-batch: the instances on the devices, in the order in which they came there.
  std::map<std::pair<std::size_t, std::int64_t>, std::vector<std::uint32_t>> held_;
};

}  // namespace

Draft list_phases(const PolicyRequest& request, const PhaseRules& rules) {
  const Workload& workload = request.workload;
  const std::size_t stages = request.pricing.stages.size();
  const PhaseRound round = round_of(rules, workload, stages);
  const std::vector<Phase> of_unit = phases_of(rules, workload, stages, round.unit_batches, 1);
  const std::int64_t phases = std::count_if(of_unit.begin(), of_unit.end(),
                                            [](const Phase& phase) { return !phase.is_idle(); });
  const Program program = PhasedMaker(request, rules).make();
  return list_program(
      {.request = request,
       .program = program,
       .name = "phased",
       .overlap = rules.overlap,
       .facts = {{"phases_per_step", phases * (workload.batches_per_step / round.unit_batches)},
                 {"in_flight", rules.once_a_step ? workload.batches_per_step : rules.in_flight}}});
}

}  // namespace sluice
