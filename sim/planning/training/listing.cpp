// From a step's slots to a plan: loads placed, actions listed, waits added.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "planning/training/training.hpp"

namespace sluice {

namespace {

/// When each slot would start if nothing but computation took time; and which slot runs at a time.
class Clock {
 public:
  explicit Clock(const Step& step) {
    for (const Step::Slot& slot : step.slots) {
      starts_.push_back(now_);
      now_ += slot.seconds;
    }
  }
  double seconds() const { return now_; }  ///< of a step
  double start(std::int64_t slot) const {
    const auto count = static_cast<std::int64_t>(starts_.size());
    double time = 0;
    for (; slot < 0; slot += count) time -= now_;
    return time + starts_[static_cast<std::size_t>(slot)];
  }
  /// The slot at whose head a load must be listed to start by `time`; negative in the step before.
  std::int64_t slot_at(double time) const {
    const auto count = static_cast<std::int64_t>(starts_.size());
    if (time < 0 && now_ > 0) {
      const double back = std::ceil(-time / now_);
      if (back > 1) return -count;
      return slot_at(time + back * now_) - count;
    }
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), time);
    return std::max<std::int64_t>(0, after - starts_.begin() - 1);
  }

 private:
  std::vector<double> starts_;
  double now_ = 0;
};

class Lister {
 public:
  Lister(const Listing& listing, const Step& step)
      : listing_(listing),
        request_(listing.request),
        devices_(listing.order.devices),
        host_(request_.pricing.platform.host().name),
        step_(step),
        builder_(request_.pricing.platform, listing.order.policy, request_.capacity_enforced),
        slots_(builder_, memories(listing, step),
               listing.order.overlap ? Slots::Prologue::by_need : Slots::Prologue::as_listed),
        seen_stage_(request_.pricing.stages.size(), 0) {
    for (const std::string& device : devices_)
      latency_s_.push_back(request_.pricing.platform.path(host_, device).latency_s);
  }

  std::int64_t most() { return slots_.most(devices_.front()); }

  Draft make(const std::vector<Fact>& facts) {
    find_writes();
    add_homes();
    list_prologue();
    add_tensors();
    add_loads();
    slots_.list([&](std::int64_t slot) { return list_slot(slot); });
    if (last_) builder_.wait(first_, last_, 1);
    for (const Fact& fact : facts) builder_.fact(fact);
    return {builder_.finish(request_.workload.steps), !listing_.order.overlap};
  }

 private:
  static std::vector<SlotMemory> memories(const Listing& listing, const Step& step) {
    std::vector<SlotMemory> memories;
    for (std::uint32_t d = 0; d < listing.order.devices.size(); ++d)
      memories.push_back({listing.order.devices[d], step.bytes(d), listing.capacity});
    return memories;
  }

  const Step::Instance& instance(std::uint32_t number) const { return step_.instances[number]; }

  /// Homes in host memory: inputs of the step, and of stages whose weights take turns.
  void add_homes() {
    const std::int64_t count = request_.workload.micro_batches_per_step();
    for (std::int64_t m = 0; m < count; ++m)
      inputs_.push_back(builder_.tensor("input." + std::to_string(m), TensorClass::input,
                                        listing_.shape.chain.input.bytes, host_));
    for (std::size_t s = 0; s < listing_.shape.stages.size(); ++s) {
      const StageState& state = listing_.shape.stages[s];
      const bool turns = !listing_.shape.weights_stay;
      weights_.push_back(state.weights == 0
                             ? none
                             : builder_.tensor("weights." + std::to_string(s), TensorClass::weight,
                                               state.weights, host_));
      const auto home = [&](const char* what, TensorClass tensor_class, std::int64_t bytes) {
        return bytes > 0
                   ? builder_.tensor(what + ("." + std::to_string(s)), tensor_class, bytes, host_)
                   : none;
      };
      optimizers_.push_back(turns ? home("optimizer", TensorClass::optimizer, state.optimizer)
                                  : none);
      gradients_.push_back(turns && !state.updates
                               ? home("gradients", TensorClass::gradient, state.gradients)
                               : none);
    }
  }

  /// Weights that stay are loaded; beside them is room for their gradients and state, which begin
  /// as zeros.
  void list_prologue() {
    loaded_.resize(weights_.size());
    if (!listing_.shape.weights_stay) return;
    builder_.enter(Section::prologue);
    const std::string& device = devices_.front();
    const std::uint32_t pool = builder_.pool(device);
    for (std::size_t s = 0; s < weights_.size(); ++s) {
      if (weights_[s] == none) continue;
      loaded_[s] = builder_.transfer(ActionKind::load, weights_[s], {host_, device, false, true},
                                     static_cast<std::int32_t>(s), -1);
      const StageState& state = listing_.shape.stages[s];
      const auto beside = [&](const char* what, TensorClass tensor_class, std::int64_t bytes) {
        if (bytes > 0)
          builder_.at(loaded_[s])
              .allocates.push_back(
                  {builder_.tensor(what + ("." + std::to_string(s)), tensor_class, bytes), pool});
      };
      beside("gradients", TensorClass::gradient, state.gradients);
      beside("optimizer", TensorClass::optimizer, state.optimizer);
    }
  }

  /// The tensor of each instance. The first load of a home takes the home's own.
  void add_tensors() {
    std::vector<char> taken(inputs_.size() + 3 * weights_.size(), 0);
    const auto own = [&](std::uint32_t home, std::size_t at) {
      if (taken[at]) return none;
      taken[at] = 1;
      return home;
    };
    for (const Step::Instance& made : step_.instances) {
      std::uint32_t tensor = none;
      const auto s = static_cast<std::size_t>(made.stage);
      if (made.home == Step::Home::input) {
        const auto m = static_cast<std::size_t>(made.micro_batch);
        tensor = own(inputs_[m], m);
      } else if (made.home == Step::Home::weights) {
        tensor = own(weights_[s], inputs_.size() + s);
      } else if (made.home == Step::Home::optimizer) {
        tensor = own(optimizers_[s], inputs_.size() + weights_.size() + s);
      } else if (made.home == Step::Home::gradients) {
        tensor = own(gradients_[s], inputs_.size() + 2 * weights_.size() + s);
      }
      tensors_.push_back(
          tensor != none ? tensor : builder_.tensor(made.name, made.tensor_class, made.bytes));
    }
  }

  // --- loads ---------------------------------------------------------------------------------

  struct Wanted {
    std::uint32_t instance;
    std::int64_t slot, earliest;
  };

  /// Placed in the order in which they are needed, as far as memory lets them.
  void add_loads() {
    std::vector<Wanted> wanted;
    for (std::size_t i = 0; i < step_.slots.size(); ++i)
      for (const std::uint32_t number : step_.slots[i].loads)
        wanted.push_back({number, static_cast<std::int64_t>(i), static_cast<std::int64_t>(i)});
    if (listing_.order.overlap) spread(wanted);
    for (const Wanted& load : wanted) {
      const Step::Instance& made = instance(load.instance);
      SlotLoad slot_load;
      slot_load.tensor = tensors_[load.instance];
      slot_load.ends = {host_, devices_[made.device], false, true};
      slot_load.stage = made.stage;
      slot_load.micro_batch = made.micro_batch;
      slot_load.slot = load.slot;
      slot_load.earliest = load.earliest;
      slot_load.after = load.earliest - 1;
      slot_load.within = listing_.order.overlap;
      if (made.copy_of != none)
        slot_load.reloads = {instance(made.copy_of).saved_at, instance(made.copy_of).saves, 0};
      if (const std::optional<Written> written = written_before(load.instance, load.slot))
        slot_load.after_save = {written->slot, written->number, written->steps_ago};
      slots_.add(std::move(slot_load));
    }
  }

  /// As late as possible: each arrives when its slot begins, or ends when the next load on the copy
  /// engine must begin; and a slot sooner, if the engine is free by then. Each is listed after the
  /// computation of the slot within which it then begins.
  void spread(std::vector<Wanted>& wanted) const {
    const Clock clock(step_);
    const std::vector<double> latest = latest_begins(wanted, clock);
    std::vector<double> free(devices_.size(), -std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      Wanted& load = wanted[i];
      const Step::Instance& made = instance(load.instance);
      const double sooner = clock.start(clock.slot_at(latest[i]) - 1);
      const double begin = std::max(sooner, std::min(free[made.device], latest[i]));
      free[made.device] = begin + made.load_s;
      load.earliest = std::max(std::min(clock.slot_at(begin) + 1, load.slot),
                               first_moment(load.instance, load.slot));
    }
  }

  /// Gone through twice, as the last loads of a step come before the first ones of the next, where
  /// the engine has time for all of a step's loads within it.
  std::vector<double> latest_begins(const std::vector<Wanted>& wanted, const Clock& clock) const {
    std::vector<double> begins(wanted.size());
    std::vector<double> next(devices_.size(), std::numeric_limits<double>::infinity());
    std::vector<double> busy(devices_.size(), 0);
    for (const bool again : {false, true}) {
      for (std::size_t d = 0; again && d < next.size(); ++d)
        next[d] = busy[d] <= clock.seconds() ? next[d] + clock.seconds()
                                             : std::numeric_limits<double>::infinity();
      for (std::size_t i = wanted.size(); i-- > 0;) {
        const Step::Instance& made = instance(wanted[i].instance);
        begins[i] =
            std::min(next[made.device], clock.start(wanted[i].slot) - latency_s_[made.device]) -
            made.load_s;
        next[made.device] = begins[i];
        if (!again) busy[made.device] += made.load_s;
      }
    }
    return begins;
  }

  /// The first slot at whose head a load may be listed: after the save that it brings back.
  std::int64_t first_moment(std::uint32_t number, std::int64_t slot) const {
    const Step::Instance& made = instance(number);
    if (made.copy_of != none) return std::min(instance(made.copy_of).saved_at + 1, slot);
    if (const std::optional<Written> written = written_before(number, slot))
      return std::min(
          written->slot + 1 - static_cast<std::int64_t>(written->steps_ago) * slots_.count(), slot);
    return 1 - slots_.count();
  }

  /// The last save into the home that a load reads, in this step or the one before.
  struct Written {
    std::int64_t slot;
    std::size_t number;
    std::uint32_t steps_ago;
  };
  std::optional<Written> written_before(std::uint32_t number, std::int64_t slot) const {
    const Step::Instance& made = instance(number);
    if (made.home != Step::Home::weights && made.home != Step::Home::optimizer) return {};
    const auto found = writes_.find({made.home, made.stage});
    if (found == writes_.end()) return {};
    const std::vector<Written>& all = found->second;  // in the order in which they are saved
    const auto next = std::partition_point(
        all.begin(), all.end(), [&](const Written& written) { return written.slot < slot; });
    if (next != all.begin()) return *std::prev(next);
    return Written{all.back().slot, all.back().number, 1};
  }

  void find_writes() {
    for (const Step::Instance& made : step_.instances)
      if (made.saved_home)
        writes_[{made.home, made.stage}].push_back({made.saved_at, made.saves, 0});
  }

  // --- actions -------------------------------------------------------------------------------

  SlotWork list_slot(std::int64_t at) {
    const Step::Slot& slot = step_.slots[static_cast<std::size_t>(at)];
    const std::string& device = devices_[slot.device];
    const std::uint32_t pool = builder_.pool(device);
    const bool of_micro_batch = slot.micro_batch >= 0;
    const PlanBuilder::Ref ref =
        builder_.compute(slot.kind, device, slot.stage, slot.micro_batch,
                         of_micro_batch ? request_.workload.micro_batch : 0);
    const auto stage = static_cast<std::size_t>(slot.stage);
    if (!std::exchange(seen_stage_[stage], 1)) builder_.wait(ref, loaded_[stage]);
    if (devices_.size() > 1) follow_phase(slot, ref);
    if (slot.selective) price_selective(ref, stage, device);
    Action& action = builder_.at(ref);
    for (const std::uint32_t made : slot.makes) {
      action.allocates.push_back({tensors_[made], pool});
      if (instance(made).last == at && !uses(slot, made))
        action.uses.push_back({tensors_[made], pool});
    }
    for (const std::uint32_t used : slot.uses) action.uses.push_back({tensors_[used], pool});
    if (slot.workspace > 0) {
      const Placement workspace{
          builder_.tensor("workspace." + name_of(action), TensorClass::workspace, slot.workspace),
          pool};
      builder_.at(ref).allocates.push_back(workspace);
      builder_.at(ref).uses.push_back({workspace.tensor, workspace.pool, true, true});
    }
    if (slot.ends_micro_batch) builder_.at(ref).samples_done = request_.workload.micro_batch;
    return {ref, ref, list_saves(slot, ref)};
  }

  /// A phase starts after all of the phase before it, also after the last one of the step before.
  void follow_phase(const Step::Slot& slot, PlanBuilder::Ref ref) {
    if (!first_) first_ = ref;
    if (slot.phase != phase_) builder_.wait(ref, last_);
    phase_ = slot.phase;
    last_ = ref;
  }

  /// Is it used by the slot that makes it, or saved after it?
  static bool uses(const Step::Slot& slot, std::uint32_t made) {
    const auto in = [&](const std::vector<std::uint32_t>& list) {
      return std::find(list.begin(), list.end(), made) != list.end();
    };
    return in(slot.uses) || in(slot.saves);
  }

  std::vector<SlotWork::Save> list_saves(const Step::Slot& slot, PlanBuilder::Ref maker) {
    std::vector<SlotWork::Save> saves;
    for (const std::uint32_t number : slot.saves) {
      const Step::Instance& made = instance(number);
      const PlanBuilder::Ref save = builder_.transfer(
          ActionKind::save, tensors_[number],
          {devices_[made.device], host_, true, !made.saved_home}, made.stage, made.micro_batch);
      builder_.wait(save, maker);
      saves.push_back({save, tensors_[number]});
    }
    return saves;
  }

  void price_selective(PlanBuilder::Ref ref, std::size_t stage, const std::string& device) {
    const Price price =
        price_of(request_.pricing, {.kind = ActionKind::recompute,
                                    .stage = request_.pricing.stages[stage],
                                    .device = request_.pricing.platform.device(device),
                                    .samples = request_.workload.micro_batch,
                                    .selective = true});
    Action& action = builder_.at(ref);
    action.part = WorkPart::selective;
    action.seconds = price.seconds;
    action.flop = price.flop;
    action.memory_bytes = price.bytes;
    action.measured_s = price.measured_s;
  }

  const Listing& listing_;
  const PolicyRequest& request_;
  const std::vector<std::string>& devices_;
  std::string host_;
  std::vector<double> latency_s_;  ///< of loads, by device
  const Step& step_;
  PlanBuilder builder_;
  Slots slots_;
  std::vector<char> seen_stage_;
  std::vector<std::uint32_t> inputs_, weights_, optimizers_, gradients_;        ///< homes
  std::map<std::pair<Step::Home, std::int32_t>, std::vector<Written>> writes_;  ///< by home, stage
  std::vector<PlanBuilder::Ref> loaded_;  ///< by stage, in the prologue
  std::vector<std::uint32_t> tensors_;    ///< by instance
  PlanBuilder::Ref first_, last_;         ///< computations of the step, where devices take turns
  std::int64_t phase_ = 0;
};

}  // namespace

Draft list_training(const Listing& listing, const Step& step, const std::vector<Fact>& facts,
                    std::int64_t* most) {
  Lister lister(listing, step);
  Draft draft = lister.make(facts);
  if (most) *most = lister.most();
  return draft;
}

}  // namespace sluice
