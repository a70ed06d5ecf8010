// phased: PopART's phased execution. A phase is a slice of time in which one device computes a
// stage for a batch; device = phase number mod n. While it computes, the device of the next phase
// saves what it made last and loads the weights and inputs that it needs; phase i + 1 starts after
// all of phase i's computation and after its own I/O.
//
// Steady phase, overlapped, weights preloaded: max(I/O, computation), where I/O is that of one
// phase (weights, and what of the activations goes over the host link). Serial: their sum.
#include <algorithm>
#include <map>

#include "policy/phases.hpp"
#include "policy/training/training.hpp"

namespace sluice {

namespace {

/// What is listed of one phase.
struct Listed {
  struct Gate {  ///< something to wait for, of `distance` iterations ago
    PlanBuilder::Ref ref;
    std::uint32_t distance;
  };
  PlanBuilder::Ref first, last;                           ///< computations
  std::vector<PlanBuilder::Ref> saves;                    ///< the device's I/O in the next phase
  std::vector<PlanBuilder::Ref> first_loads, last_loads;  ///< before it: one a copy engine
  std::vector<Gate> saves_before;                         ///< what must be saved before it
};

class Phased {
 public:
  Phased(const PolicyRequest& request, const Reader& parameters)
      : request_(request),
        bytes_(stage_bytes(request)),
        rules_(read_phase_rules(request, parameters)),
        host_(request.pricing.platform.host().name),
        builder_(request.pricing.platform, "phased", request.capacity_enforced) {}

  Plan make() {
    const Workload& workload = request_.workload;
    const std::int64_t steps = steps_a_round(rules_, workload, bytes_.size());
    const auto window = [&](std::int64_t count) {
      return phases_of(rules_, workload, bytes_.size(), count);
    };
    add_weights();
    add_caches(window(steps));
    list(Section::body, window(steps), "");
    const std::int64_t rest = workload.steps % steps;
    if (rest > 0) list(Section::epilogue, window(rest), ".last");
    list_last_saves();
    builder_.fact("phases_per_step", std::to_string(window(1).size()));
    builder_.fact("in_flight", std::to_string(rules_.once_a_step ? workload.batches_per_step
                                                                 : rules_.in_flight));
    Plan plan = builder_.finish(workload.steps / steps, steps);
    if (!rules_.overlap) serialise(plan);
    lower(plan, request_.pricing);
    return plan;
  }

 private:
  void add_weights() {
    for (std::size_t stage = 0; stage < bytes_.size(); ++stage)
      builder_.tensor("weights." + std::to_string(stage), TensorClass::weight,
                      bytes_[stage].weights, host_);
  }

  /// Where a stage meets its caches again in every step. The other steps of a round, and the
  /// epilogue after it, begin like the first one, or else a cache would have to move.
  void add_caches(const std::vector<Phase>& phases) {
    std::map<std::pair<std::size_t, std::int64_t>, std::string> devices;  // (stage, q of a step)
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
              " of one sample is computed on " + found->second + " and, a step later, on " +
              phase.device +
              ", and its cache of keys and values does not move: give 'phases.devices', "
              "one a stage, or 'policy.device'");
      }
    }
    for (const auto& [at, count] : samples)
      hold_cache(builder_, request_, at.first, count, at.second);
  }

  /// Lists the phases of a window. What its last phase saves is saved in the first phase of the
  /// window that comes next: the next iteration (ahead = -1), or the epilogue.
  void list(Section section, const std::vector<Phase>& phases, const std::string& suffix) {
    builder_.enter(section);
    before_ = std::exchange(listed_, {});
    phases_before_ = std::exchange(phases_, phases);
    made_.clear();
    suffix_before_ = std::exchange(suffix_, suffix);
    carried_.clear();
    for (std::size_t p = 0; p < phases_.size(); ++p) list_phase(p, section);
    add_waits();
  }

  /// After the last window: its last phase saves, and nothing more comes.
  void list_last_saves() {
    if (phases_.empty() || !rules_.overlap) return;
    const bool body_was_last = builder_.section() == Section::body;
    builder_.enter(Section::epilogue);
    list_saves(phases_.size() - 1, body_was_last ? -1 : 0, {});
  }

  void list_phase(std::size_t p, Section section) {
    const Phase& phase = phases_[p];
    std::vector<PlanBuilder::Ref> loads;
    const std::uint32_t weights = list_weights(p, loads);
    std::vector<std::uint32_t> inputs;
    for (std::int64_t q : phase.micro_batches) inputs.push_back(list_input(p, q, loads));
    listed_.emplace_back();
    for (std::size_t m = 0; m < phase.micro_batches.size(); ++m)
      list_compute(p, phase.micro_batches[m], inputs[m], weights);
    for (PlanBuilder::Ref load : loads) builder_.wait(listed_[p].first, load);
    listed_[p].first_loads = first_of_each_stream(loads.begin(), loads.end());
    listed_[p].last_loads = first_of_each_stream(loads.rbegin(), loads.rend());
    if (!rules_.overlap)
      list_saves(p, 0, {});
    else if (p > 0)
      list_saves(p - 1, 0, loads);
    else
      carry_saves(section, loads);
  }

  /// In the first phase of a window: the saves of the last phase of the window before.
  void carry_saves(Section section, const std::vector<PlanBuilder::Ref>& loads) {
    if (!rules_.saves_answers()) return;
    const bool body = section == Section::body;
    const std::vector<Phase>& window = body ? phases_ : phases_before_;
    for (std::int64_t q : window.back().micro_batches) {
      const PlanBuilder::Ref ref =
          save(output_tensor(q, body ? suffix_ : suffix_before_), window.back(), q, true);
      builder_.at(ref).ahead = -1;
      for (PlanBuilder::Ref load : loads) builder_.wait(ref, load);
      carried_.push_back(ref);
    }
    if (!body)
      for (PlanBuilder::Ref ref : carried_) builder_.wait(ref, before_.back().last);
  }

  /// Phase p's saves, in the phase after it: once that has its loads.
  void list_saves(std::size_t p, std::int32_t ahead, const std::vector<PlanBuilder::Ref>& loads) {
    const Phase& phase = phases_[p];
    const bool last = phase.stage + 1 == bytes_.size();
    if (last ? !rules_.saves_answers() : !rules_.saves_boundaries() || followed_at_once(p)) return;
    for (std::int64_t q : phase.micro_batches) {
      Crossing& crossing = made_.at({phase.stage, q});
      crossing.save = save(crossing.tensor, phase, q, last);
      builder_.at(crossing.save).ahead = ahead;
      builder_.wait(crossing.save, listed_[p].last);
      for (PlanBuilder::Ref load : loads) builder_.wait(crossing.save, load);
      listed_[p].saves.push_back(crossing.save);
    }
  }

  /// Does the next phase need what this one makes? Then its activations are saved as they are made.
  bool followed_at_once(std::size_t p) const {
    return p + 1 < phases_.size() && phases_[p + 1].stage == phases_[p].stage + 1 &&
           phases_[p + 1].micro_batches.front() == phases_[p].micro_batches.front();
  }

  /// A copy engine works in order: a wait of its first load holds back all of them.
  template <class Iterator>
  std::vector<PlanBuilder::Ref> first_of_each_stream(Iterator begin, Iterator end) {
    std::vector<PlanBuilder::Ref> found;
    for (; begin != end; ++begin) {
      const std::uint32_t stream = builder_.at(*begin).stream;
      if (std::none_of(found.begin(), found.end(),
                       [&](PlanBuilder::Ref other) { return builder_.at(other).stream == stream; }))
        found.push_back(*begin);
    }
    return found;
  }

  std::uint32_t list_weights(std::size_t p, std::vector<PlanBuilder::Ref>& loads) {
    const Phase& phase = phases_[p];
    if (bytes_[phase.stage].weights == 0) return none;
    const std::uint32_t weights = builder_.tensor(
        "weights." + std::to_string(phase.stage) + ".phase" + std::to_string(p) + suffix_,
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

  /// What comes into a phase for one micro-batch; none where it needs no transfer or tensor.
  std::uint32_t list_input(std::size_t p, std::int64_t q, std::vector<PlanBuilder::Ref>& loads) {
    const Phase& phase = phases_[p];
    if (phase.stage == 0) {
      if (!rules_.real_data) return none;
      const std::uint32_t input = builder_.tensor("input." + std::to_string(q) + suffix_,
                                                  TensorClass::input, bytes_[0].input, host_);
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
                            ".arrived" + suffix_,
                        TensorClass::activation, bytes_[phase.stage].input);
    const PlanBuilder::Ref ref = load(arrived, streaming ? host_ : from.device, phase, q, false);
    builder_.at(ref).uses.push_back({from.tensor, builder_.pool(streaming ? host_ : from.device)});
    builder_.wait(ref, streaming ? from.save : from.action);
    loads.push_back(ref);
    return arrived;
  }

  /// A tensor is known by its name before the action that makes it is listed.
  std::uint32_t output_tensor(std::int64_t q, const std::string& suffix) {
    auto [found, fresh] = outputs_.try_emplace({q, suffix}, none);
    if (fresh)
      found->second = builder_.tensor("output." + std::to_string(q) + suffix, TensorClass::output,
                                      bytes_.back().output, rules_.saves_answers() ? host_ : "");
    return found->second;
  }

  void list_compute(std::size_t p, std::int64_t q, std::uint32_t input, std::uint32_t weights) {
    const Phase& phase = phases_[p];
    const StageBytes& bytes = bytes_[phase.stage];
    const bool last = phase.stage + 1 == bytes_.size();
    const std::uint32_t output = last ? output_tensor(q, suffix_)
                                      : builder_.tensor("boundary." + std::to_string(phase.stage) +
                                                            "." + std::to_string(q) + suffix_,
                                                        TensorClass::activation, bytes.output);
    ForwardOf forward = forward_of(phase, q);
    forward.output = output;
    forward.drops_output = last && !rules_.saves_answers();
    forward.suffix = suffix_;
    const PlanBuilder::Ref ref = list_forward(builder_, forward);
    Action& action = builder_.at(ref);
    if (weights != none) action.uses.push_back({weights, builder_.pool(phase.device)});
    if (input != none) use_input(action, input, phase, q);
    if (!listed_[p].first) listed_[p].first = ref;
    listed_[p].last = ref;
    Crossing crossing{output, phase.device, ref, {}};
    if (!last && rules_.saves_boundaries() && followed_at_once(p)) {
      crossing.save = save(output, phase, q, false);
      builder_.wait(crossing.save, ref);
      listed_[p].saves.push_back(crossing.save);
    }
    made_[{phase.stage, q}] = crossing;
  }

  /// On chip, a micro-batch's activation stays where it was made.
  void use_input(Action& action, std::uint32_t input, const Phase& phase, std::int64_t q) {
    const auto from = made_.find({phase.stage - 1, q});
    const bool stayed = phase.stage > 0 && from->second.tensor == input;
    action.uses.push_back({input, builder_.pool(stayed ? from->second.device : phase.device)});
  }

  PlanBuilder::Ref save(std::uint32_t tensor, const Phase& phase, std::int64_t q, bool answer) {
    return list_save(builder_, tensor, forward_of(phase, q), host_, answer);
  }

  ForwardOf forward_of(const Phase& phase, std::int64_t q) const {
    return {phase.stage, q, phase.device, bytes_[phase.stage], request_.workload.micro_batch};
  }

  // --- waits between phases -------------------------------------------------------------------

  /// The phase `back` before phase p: of this window, of the iteration before, or, in the epilogue,
  /// of the body. `listed` is null where there is none.
  struct Earlier {
    const Listed* listed = nullptr;
    std::uint32_t distance = 0;
  };
  Earlier earlier(std::size_t p, std::size_t back) const {
    if (back <= p) return {&listed_[p - back], 0};
    const bool body = builder_.section() == Section::body;
    const std::vector<Listed>& window = body ? listed_ : before_;
    const std::size_t beyond = back - p;  // 1: the window's last phase
    if (beyond > window.size()) return {};
    return {&window[window.size() - beyond], body ? 1U : 0U};
  }

  /// What the device of phase p has to have saved before p starts: the results of its last phase.
  std::vector<Listed::Gate> saves_before(std::size_t p) const {
    std::vector<Listed::Gate> gates;
    const std::size_t back = std::max<std::size_t>(phases_since_device(p), 2);
    if (back == p + 1)  // the last phase of the window before saves in this window
      for (PlanBuilder::Ref ref : carried_) gates.push_back({ref, 0});
    else if (const Earlier phase = earlier(p, back); phase.listed)
      for (PlanBuilder::Ref ref : phase.listed->saves) gates.push_back({ref, phase.distance});
    return gates;
  }

  /// Phase p starts after all of the phase before has been computed and after its own I/O, which is
  /// its loads and what its device still had to save. Preloading begins when the phases in which
  /// its device rests begin: with two devices the phase before.
  void add_waits() {
    for (std::size_t p = 0; p < listed_.size(); ++p) listed_[p].saves_before = saves_before(p);
    for (std::size_t p = 0; p < listed_.size(); ++p) {
      const Listed& mine = listed_[p];
      for (const Listed::Gate& gate : mine.saves_before)
        builder_.wait(mine.first, gate.ref, gate.distance);
      // What is saved in this phase, the results of the one before, begins when it begins.
      const std::vector<PlanBuilder::Ref>& saved_now = p == 0 ? carried_ : listed_[p - 1].saves;
      const bool as_made = p > 0 && followed_at_once(p - 1);
      if (!as_made)
        for (PlanBuilder::Ref save : saved_now)
          for (const Listed::Gate& gate : mine.saves_before)
            builder_.wait(save, gate.ref, gate.distance);
      const Earlier before = earlier(p, 1);
      if (before.listed) builder_.wait(mine.first, before.listed->last, before.distance);
      if (rules_.preload)
        add_preload_waits(p);
      else if (before.listed)
        for (PlanBuilder::Ref load : mine.first_loads)
          builder_.wait(load, before.listed->last, before.distance);
    }
    if (builder_.section() == Section::body)
      for (PlanBuilder::Ref ref : carried_) builder_.wait(ref, listed_.back().last, 1);
  }

  /// The loads of phase p wait for what the start of the phase in which they begin waits for.
  void add_preload_waits(std::size_t p) {
    const std::size_t resting = std::max<std::size_t>(phases_since_device(p), 2) - 1;
    const Earlier begin = earlier(p, resting), before = earlier(p, resting + 1);
    for (PlanBuilder::Ref load : listed_[p].first_loads) {
      if (before.listed) builder_.wait(load, before.listed->last, before.distance);
      if (!begin.listed) continue;
      for (PlanBuilder::Ref other : begin.listed->last_loads)
        builder_.wait(load, other, begin.distance);
      for (const Listed::Gate& gate : begin.listed->saves_before)
        builder_.wait(load, gate.ref, gate.distance + begin.distance);
    }
  }

  /// How many phases ago this phase's device computed last; as many as there are where it never
  /// did.
  std::size_t phases_since_device(std::size_t p) const {
    if (!rules_.by_stage) return rules_.devices.size();
    const std::vector<Phase>& before = phases_before_.empty() ? phases_ : phases_before_;
    for (std::size_t back = 1; back <= p + before.size(); ++back) {
      const Phase& phase = back <= p ? phases_[p - back] : before[before.size() - (back - p)];
      if (phase.device == phases_[p].device) return back;
    }
    return p + before.size();
  }

  struct Crossing {  ///< a micro-batch between two phases
    std::uint32_t tensor = none;
    std::string device;
    PlanBuilder::Ref action, save;
  };

  const PolicyRequest& request_;
  std::vector<StageBytes> bytes_;
  PhaseRules rules_;
  std::string host_;
  PlanBuilder builder_;
  std::string suffix_, suffix_before_;
  std::vector<Phase> phases_, phases_before_;
  std::vector<Listed> listed_, before_;
  std::map<std::pair<std::size_t, std::int64_t>, Crossing> made_;  ///< (stage, q)
  std::map<std::pair<std::int64_t, std::string>, std::uint32_t> outputs_;
  std::vector<PlanBuilder::Ref> carried_;  ///< saves of the window before, in this one
};

/// In training a phase is one operation of the step, a stage forward, backward or again, on all
/// micro-batches in flight. What is on the wrong device goes through host memory.
TrainingOrder phased_training(const PolicyRequest& request, const Reader& parameters) {
  refuse_in_training(parameters, {"weights", "weights_per", "host_data", "outputs"},
                     "weights come for each phase");
  TrainingOrder order{"phased", false, {}, {}, parameters.boolean("overlap")};
  if (!parameters.is_word("in_flight", "auto")) order.in_flight = parameters.integer("in_flight");
  const Platform& platform = request.pricing.platform;
  if (request.phases)
    for (const char* key : {"activations", "devices", "stages"})
      if (const Value* value = request.phases->find(key))
        fail_at(*value, "'" + std::string(key) +
                            "' in phases is for inference; in training all "
                            "devices take turns (or the policy's 'device')");
  if (parameters.has("device"))
    order.devices = {platform.device(parameters.text("device")).name};
  else
    for (const Device& device : platform.devices) order.devices.push_back(device.name);
  return order;
}

Plan plan_phased(const PolicyRequest& request, const Reader& parameters) {
  if (request.workload.training)
    return plan_training(request, phased_training(request, parameters));
  return Phased(request, parameters).make();
}

}  // namespace

extern const Policy phased_policy;
const Policy phased_policy = {
    .name = "phased",
    .summary =
        "PopART's phased execution: one device computes a stage while another saves and loads.",
    .source =
        "seed 004; graphcore/examples, phased_execution.py; PopART user guide, phased execution",
    .parameters = phase_parameters(),
    .all_devices = true,
    .plan = plan_phased,
};

}  // namespace sluice
