#include "planning/phased/listing.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "planning/phased/waits.hpp"
#include "planning/stage_actions.hpp"

namespace sluice {

namespace {

class PhaseLister {
 public:
  PhaseLister(const PolicyRequest& request, const PhaseRules& rules)
      : request_(request),
        bytes_(stage_bytes(request)),
        rules_(rules),
        host_(request.pricing.platform.host().name),
        builder_(request.pricing.platform, "phased", request.capacity_enforced) {}

  Draft make() {
    const Workload& workload = request_.workload;
    const PhaseRound round = round_of(rules_, workload, bytes_.size());
    const auto window = [&](std::int64_t units) {
      return phases_of(rules_, workload, bytes_.size(), round.unit_batches, units);
    };
    hold_homes();
    add_caches();
    list(Section::body, window(round.units), "");
    if (round.rest > 0) list(Section::epilogue, window(round.rest), ".last");
    list_last_saves();
    const std::vector<Phase> of_unit = window(1);
    const std::int64_t phases = std::count_if(of_unit.begin(), of_unit.end(),
                                              [](const Phase& phase) { return !phase.is_idle(); });
    const std::int64_t units_per_step = workload.batches_per_step / round.unit_batches;
    builder_.fact({"phases_per_step", phases * units_per_step});
    builder_.fact({"in_flight", rules_.once_a_step ? workload.batches_per_step : rules_.in_flight});
    Plan plan = builder_.finish(round.iterations, round.steps_per_iteration);
    plan.iterations_per_step = round.iterations_per_step;
    return {std::move(plan), !rules_.overlap};
  }

 private:
  /// Adds the tensors that host memory holds during the whole run: the weights, the inputs and the answers.
  void hold_homes() {
    if (rules_.real_data) hold_step(builder_, request_, host_, rules_.saves_answers());
    for (std::size_t stage = 0; stage < bytes_.size(); ++stage)
      builder_.tensor("weights." + std::to_string(stage), TensorClass::weight,
                      bytes_[stage].weights, host_);
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
    const std::vector<Phase> phases =
        phases_of(rules_, workload, bytes_.size(), round.unit_batches, round.units);
    // The device of each stage and micro-batch of a step.
    std::map<std::pair<std::size_t, std::int64_t>, std::string> devices;
    std::map<std::pair<std::size_t, std::string>, std::int64_t> samples;
    for (const Phase& phase : phases) {
      if (request_.pricing.stages[phase.stage].cache_bytes == 0) continue;
      for (const std::int64_t q : phase.micro_batches) {
        const auto [found, fresh] = devices.try_emplace(
            {phase.stage, q % request_.workload.micro_batches_per_step()}, phase.device);
        if (fresh) samples[{phase.stage, phase.device}] += request_.workload.micro_batch;
        if (found->second != phase.device)
          throw InputError(
              "stage " + request_.pricing.stages[phase.stage].name +
              " of one sample would be computed on " + found->second + " and, a step later, on " +
              phase.device +
              ", but its cache of keys and values cannot move: give one device per stage in "
              "'phases.devices', or one device in 'policy.device'");
      }
    }
    for (const auto& [at, count] : samples)
      hold_cache(builder_, request_, at.first, count, at.second);
  }

  /// Lists the phases of a window: of one iteration of the body, or of the units after the body (PhaseRound). The
  /// results of a window's last phase are saved in the next window. In the body, the next window is the next iteration,
  /// and the saves have ahead = -1. After the last iteration, the next window is the epilogue.
  void list(Section section, const std::vector<Phase>& phases, const std::string& suffix) {
    builder_.enter(section);
    body_ = std::exchange(window_, PhaseWindow{phases, suffix, {}, {}});
    made_.clear();
    for (std::size_t p = 0; p < phases.size(); ++p) list_phase(p);
    add_phase_waits(builder_, rules_, window_, before());
  }

  /// Returns the window before the present window. In the body, this is the previous iteration. In the epilogue, it is
  /// the last iteration.
  const PhaseWindow& before() const {
    return builder_.section() == Section::body ? window_ : body_;
  }

  /// Lists the saves of the results of the run's last phase.
  void list_last_saves() {
    if (window_.phases.empty() || !rules_.overlap) return;
    const bool body_was_last = builder_.section() == Section::body;
    builder_.enter(Section::epilogue);
    list_saves(window_.phases.size() - 1, body_was_last ? -1 : 0, {});
  }

  void list_phase(std::size_t p) {
    const Phase& phase = window_.phases[p];
    if (phase.is_idle()) return list_idle_phase(p);
    std::vector<PlanBuilder::Ref> loads;
    const std::uint32_t weights = list_weights(p, loads);
    std::vector<std::uint32_t> inputs;
    for (std::int64_t q : phase.micro_batches) inputs.push_back(list_input(p, q, loads));
    ListedPhase& listed = window_.listed.emplace_back();
    for (std::size_t m = 0; m < phase.micro_batches.size(); ++m)
      list_compute(p, phase.micro_batches[m], inputs[m], weights);
    for (PlanBuilder::Ref load : loads) builder_.wait(listed.first, load);
    listed.first_loads = first_of_each_stream(loads.begin(), loads.end());
    listed.last_loads = first_of_each_stream(loads.rbegin(), loads.rend());
    if (!rules_.overlap)
      list_saves(p, 0, {});
    else if (p > 0)
      list_saves(p - 1, 0, loads);
    else
      carry_saves(loads);
  }

  /// Lists what happens during a phase that computes nothing: the saves of the previous phase. The previous phase is in
  /// this window: a window begins with the first phase of a turn, and this phase always computes something.
  void list_idle_phase(std::size_t p) {
    const PlanBuilder::Ref last = window_.listed[p - 1].last;
    window_.listed.emplace_back().last = last;
    if (rules_.overlap) list_saves(p - 1, 0, {});
  }

  /// Lists the saves of the results of the previous window's last phase, in the first phase of this window.
  void carry_saves(const std::vector<PlanBuilder::Ref>& loads) {
    if (!rules_.saves_answers()) return;
    const Phase& last = before().phases.back();
    for (std::int64_t q : last.micro_batches) {
      const PlanBuilder::Ref ref = save(output_tensor(q, before().suffix), last, q, true);
      builder_.at(ref).ahead = -1;
      for (PlanBuilder::Ref load : loads) builder_.wait(ref, load);
      window_.carried.push_back(ref);
    }
  }

  /// Lists the saves for the results of phase p. This function is called in the next phase, after the loads of that
  /// phase.
  void list_saves(std::size_t p, std::int32_t ahead, const std::vector<PlanBuilder::Ref>& loads) {
    const Phase& phase = window_.phases[p];
    const bool last = phase.stage + 1 == bytes_.size();
    if (last ? !rules_.saves_answers() : !rules_.saves_boundaries() || window_.followed_at_once(p))
      return;
    for (std::int64_t q : phase.micro_batches) {
      Crossing& crossing = made_.at({phase.stage, q});
      crossing.save = save(crossing.tensor, phase, q, last);
      builder_.at(crossing.save).ahead = ahead;
      builder_.wait(crossing.save, window_.listed[p].last);
      for (PlanBuilder::Ref load : loads) builder_.wait(crossing.save, load);
      window_.listed[p].saves.push_back(crossing.save);
    }
  }

  /// Returns the first transfer of each copy engine. A copy engine makes its transfers in order. So if the first
  /// transfer waits for an action, the later transfers need no such wait. If tensors may be placed later, weights may get
  /// another copy engine than the inputs of the phase. Then the function returns the first transfer of either.
  template <class Iterator>
  std::vector<PlanBuilder::Ref> first_of_each_stream(Iterator begin, Iterator end) {
    std::vector<PlanBuilder::Ref> found;
    const auto order_of = [&](PlanBuilder::Ref ref) {
      const Action& load = builder_.at(ref);
      const bool weights = load.micro_batch < 0;
      return std::pair(load.stream, rules_.may_be_placed && weights);
    };
    for (; begin != end; ++begin)
      if (std::none_of(found.begin(), found.end(),
                       [&](PlanBuilder::Ref other) { return order_of(other) == order_of(*begin); }))
        found.push_back(*begin);
    return found;
  }

  std::uint32_t list_weights(std::size_t p, std::vector<PlanBuilder::Ref>& loads) {
    const Phase& phase = window_.phases[p];
    if (bytes_[phase.stage].weights == 0) return none;
    const std::uint32_t weights = builder_.tensor(
        "weights." + std::to_string(phase.stage) + ".phase" + std::to_string(p) + window_.suffix,
        TensorClass::weight, bytes_[phase.stage].weights);
    loads.push_back(load(weights, host_, phase, -1, false));
    return weights;
  }

  PlanBuilder::Ref load(std::uint32_t tensor, const std::string& from, const Phase& phase,
                        std::int64_t q, bool release) {
    return builder_.transfer(from == host_ ? ActionKind::load : ActionKind::send, tensor,
                             {from, phase.device, release, true},
                             static_cast<std::int32_t>(phase.stage), static_cast<std::int32_t>(q));
  }

  /// Lists the load of a phase's input for one micro-batch, unless the input is already on the device. Returns the
  /// tensor of the input. Returns `none` if the phase has no input.
  std::uint32_t list_input(std::size_t p, std::int64_t q, std::vector<PlanBuilder::Ref>& loads) {
    const Phase& phase = window_.phases[p];
    if (phase.stage == 0) {
      if (!rules_.real_data) return none;
      const std::uint32_t input = builder_.tensor("input." + std::to_string(q) + window_.suffix,
                                                  TensorClass::input, bytes_[0].input);
      loads.push_back(load(input, host_, phase, q, false));
      return input;
    }
    const Crossing& from = made_.at({phase.stage - 1, q});
    if (rules_.activations == Activations::on_chip || from.device == phase.device) {
      if (rules_.activations != Activations::streaming) return from.tensor;
    }
    const bool streaming = rules_.activations == Activations::streaming;
    const std::uint32_t arrived =
        builder_.tensor("boundary." + std::to_string(phase.stage - 1) + "." + std::to_string(q) +
                            ".arrived" + window_.suffix,
                        TensorClass::activation, bytes_[phase.stage].input);
    const PlanBuilder::Ref ref = load(arrived, streaming ? host_ : from.device, phase, q, false);
    builder_.at(ref).uses.push_back({from.tensor, builder_.pool(streaming ? host_ : from.device)});
    builder_.wait(ref, streaming ? from.save : from.action);
    loads.push_back(ref);
    return arrived;
  }

  /// Returns the tensor of an answer. The action that makes the answer may not have been listed yet.
  std::uint32_t output_tensor(std::int64_t q, const std::string& suffix) {
    auto [found, fresh] = outputs_.try_emplace({q, suffix}, none);
    if (fresh)
      found->second = builder_.tensor("output." + std::to_string(q) + suffix, TensorClass::output,
                                      bytes_.back().output);
    return found->second;
  }

  void list_compute(std::size_t p, std::int64_t q, std::uint32_t input, std::uint32_t weights) {
    const Phase& phase = window_.phases[p];
    const StageBytes& bytes = bytes_[phase.stage];
    const bool last = phase.stage + 1 == bytes_.size();
    const std::uint32_t output = last
                                     ? output_tensor(q, window_.suffix)
                                     : builder_.tensor("boundary." + std::to_string(phase.stage) +
                                                           "." + std::to_string(q) + window_.suffix,
                                                       TensorClass::activation, bytes.output);
    ForwardPass forward = forward_of(phase, q);
    forward.output = output;
    forward.drops_output = last && !rules_.saves_answers();
    forward.suffix = window_.suffix;
    const PlanBuilder::Ref ref = list_forward(builder_, forward);
    Action& action = builder_.at(ref);
    if (weights != none) action.uses.push_back({weights, builder_.pool(phase.device)});
    if (input != none) use_input(action, input, phase, q);
    if (!window_.listed[p].first) window_.listed[p].first = ref;
    window_.listed[p].last = ref;
    Crossing crossing{output, phase.device, ref, {}};
    if (!last && rules_.saves_boundaries() && window_.followed_at_once(p)) {
      crossing.save = save(output, phase, q, false);
      builder_.wait(crossing.save, ref);
      window_.listed[p].saves.push_back(crossing.save);
    }
    made_[{phase.stage, q}] = crossing;
  }

  /// Adds the input to the operands of a computation. If no transfer has moved the input, it is on the device that has
  /// made it.
  void use_input(Action& action, std::uint32_t input, const Phase& phase, std::int64_t q) {
    const auto from = made_.find({phase.stage - 1, q});
    const bool stayed = phase.stage > 0 && from->second.tensor == input;
    action.uses.push_back({input, builder_.pool(stayed ? from->second.device : phase.device)});
  }

  PlanBuilder::Ref save(std::uint32_t tensor, const Phase& phase, std::int64_t q, bool answer) {
    return list_save(builder_, tensor, forward_of(phase, q), host_, answer);
  }

  ForwardPass forward_of(const Phase& phase, std::int64_t q) const {
    return {phase.stage, q, phase.device, bytes_[phase.stage], request_.workload.micro_batch};
  }

  /// The result of a stage for one micro-batch.
  struct Crossing {
    std::uint32_t tensor = none;
    std::string device;
    PlanBuilder::Ref action, save;
  };

  const PolicyRequest& request_;
  std::vector<StageBytes> bytes_;
  const PhaseRules& rules_;
  std::string host_;
  PlanBuilder builder_;
  PhaseWindow window_, body_;  ///< the present window, and the window that was listed before it
  std::map<std::pair<std::size_t, std::int64_t>, Crossing> made_;  ///< by stage and micro-batch
  std::map<std::pair<std::int64_t, std::string>, std::uint32_t> outputs_;
};

}  // namespace

Draft list_phases(const PolicyRequest& request, const PhaseRules& rules) {
  return PhaseLister(request, rules).make();
}

}  // namespace sluice
