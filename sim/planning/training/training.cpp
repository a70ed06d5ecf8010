#include "planning/training/training.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/bisection.hpp"
#include "base/error.hpp"
#include "base/never.hpp"
#include "base/quantity.hpp"
#include "execute/deadlock.hpp"
#include "fates/optimal/few_tapes.hpp"
#include "planning/copy_time.hpp"
#include "planning/run_seconds.hpp"
#include "planning/training/chain/unlike_devices.hpp"
#include "planning/training/found_listings.hpp"
#include "planning/training/late_loads.hpp"
#include "planning/training/load_offers.hpp"
#include "planning/training/orders.hpp"
#include "planning/training/shortest_round.hpp"
#include "planning/training/step_again.hpp"
#include "planning/training/worst_moment.hpp"

namespace sluice {
namespace {

class TrainingPlan {
 public:
  TrainingPlan(const PolicyRequest& request, const TrainingOrder& order)
      : request_(request),
        order_(order),
        fates_(request.fates.value_or(kept_fates())),
        strategy_(*fates_),
        own_(chain_on_devices(request, order, {strategy_.selective, order.overlap})),
        capacities_(capacities(request, order)),
        sequence_(order.sequence),
        weights_stay_(weights_stay(request, order)) {
    const auto drops = [](const Stage& stage) { return stage.kept.selective_bytes > 0; };
    const PassOptions selective{.selective = true, .overlap = order.overlap};
    if (strategy_.searches && std::ranges::any_of(request.pricing.stages, drops))
      selective_own_ = chain_on_devices(request, order, selective);
    own_.chain.host_room = host_room(request, own_.states, weights_stay_);
    selective_own_.chain.host_room = own_.chain.host_room;
    if (order.devices.size() > 1 && sluice::shape_of(request, order, 1).equal_memories)
      own_.chain.devices = selective_own_.chain.devices = order.devices.size();
    TriedListing listing{order.sequence, order.late};
    take(order.chosen ? *order.chosen : choice(never, &listing), listing);
  }

  /// Returns the fates that the strategy chooses. If `listing` is given, a search also tries several ways to list
  /// loads, and sets `*listing`.
  FateChoice choice(double worth, TriedListing* listing) {
    several_listings_ = listing && strategy_.searches && !request_.made_to_change;
    worth_ = worth;
    FateRequest selective = asked(selective_own_, selective_together_);
    FateRequest plain = asked(own_, together_);
    plain.worth = selective.worth = worth;
    if (!selective_own_.chain.stages.empty()) plain.selective = &selective;
    if (request_.made_to_change && strategy_.searches) return choose_among_few(fates_, plain);
    FateChoice chosen = strategy_.choose(plain, fates_.keys.reader());
    const Chain& chain = chosen.selective ? selective_own_.chain : own_.chain;
    if (several_listings_) *listing = found_listings_.listing(chain, chosen);
    return chosen;
  }

  Draft make() {
    const StepShape shape = shape_of_order();
    Program step = make_step(shape);
    if (!fits(step)) refuse(step, shape.in_flight);
    add_facts(step, shape.in_flight, peaks_of(step, order_.devices.size()));
    sequence_ = sequence_of_only_plan(step);
    return listed(shape, step);
  }

  /// Returns the step with the fates that the strategy chooses. The step does not say how early the loads come.
  Program chosen_step() { return make_step(shape_of_order()); }
  /// `step` is the result of chosen_step(), and `peaks` are its peaks.
  Draft listed(Program& step, const DeviceBytes& peaks, const ChosenStep::EarlyLoadLimits& limits,
               const std::vector<LoadPlace>* places, bool named) {
    if (!std::exchange(has_facts_, true))
      add_facts(step, std::min(in_flight(), per_batch()), peaks);
    room_ = limits.room;
    chosen_room_ = limits.run_room ? limits.run_room : room_;
    sequence_ = limits.sequence;
    return listed(shape_of_order(), step, places, named);
  }

  /// Returns the decisions on which the listing depends: the tape, and the earliest place of each load. If `known` has
  /// the step for this tape, it is priced again. Otherwise the step is made, and `known` keeps it.
  PriceDecisions decisions(KnownStep& known) {
    const StepShape shape = step_of(inputs(), 1);
    PriceDecisions made = {shape.batches, shape.micro_batches};
    for (const TapeOp& op : tape_)
      for (const std::int64_t number :
           {static_cast<std::int64_t>(op.kind), std::int64_t{op.number}, std::int64_t{op.inner}})
        made.push_back(number);
    if (!order_.overlap) return made;
    if (!known.step || known.tape != made || known.selective != selective_)
      known = {made, selective_, StepAgain::of(make_step(shape_of_order()), shape)};
    Program anew = known.step ? Program() : make_step(shape_of_order());
    Program& step = known.step ? known.step->priced(shape) : anew;
    load_late(step, load_latencies(request_.pricing.platform, order_.devices),
              sequence_of_only_plan(step));
    for (const Program::Load& load : step.loads) made.push_back(load.earliest);
    return made;
  }

  /// Returns the shape of a step, of which a round has all batches.
  StepShape whole_step() const {
    return shape_of(inputs(), std::min(order_.in_flight.value_or(1), per_batch()));
  }

 private:
  StepShape shape_of_order() { return step_of(inputs(), std::min(in_flight(), per_batch())); }
  Draft listed(const StepShape& shape, Program& step,
               const std::vector<LoadPlace>* places = nullptr, bool named = true) const {
    Draft draft =
        list_training({request_, shape, order_, room_, sequence_, places, named}, step, facts_);
    for (std::size_t d = 0; chosen_room_ && d < order_.devices.size(); ++d)
      if ((*chosen_room_)[d] < no_limit)
        stay_within(draft.plan, order_.devices[d], (*chosen_room_)[d]);
    return draft;
  }

  /// Returns the sequence of the loads if no candidates are compared.
  LoadSequence sequence_of_only_plan(const Program& step) const {
    const bool open =
        order_.overlap && !order_.sequence.pace && !order_.room && !strategy_.searches;
    if (!open || !loads_outlast_computations(step) || !loads_only_inputs(step)) return sequence_;
    return {LoadOffers(step, request_, order_).pace_of_inputs(capacities_)};
  }

  std::int64_t per_batch() const { return request_.workload.batch / request_.workload.micro_batch; }

  struct StepInputs {
    const Chain& chain;
    const Tape& tape;
    const std::vector<StageState>& states;
  };
  StepInputs inputs() const { return {own_.chain, tape_, own_.states}; }
  StepShape shape_of(const StepInputs& inputs, std::int64_t in_flight) const {
    return {inputs.chain,
            inputs.tape,
            inputs.states,
            per_batch(),
            request_.workload.batches_per_step,
            in_flight,
            weights_stay_,
            request_.workload.training->split_backward,
            static_cast<std::uint32_t>(order_.devices.size())};
  }
  StepShape step_of(const StepInputs& inputs, std::int64_t in_flight) const {
    return shortest_round(shape_of(inputs, in_flight), request_, order_);
  }

  void take(FateChoice choice, const TriedListing& listing) {
    if (choice.selective) own_ = selective_own_;
    selective_ = choice.selective;
    tape_ = std::move(choice.tape);
    facts_ = std::move(choice.facts);
    explained_ = choice.explained;
    room_ = order_.room;
    if (!room_ && limited()) room_ = capacities_;
    chosen_room_ = order_.run_room ? order_.run_room : order_.room;
    if (!choice.bytes) return;
    room_ = room_of(*choice.bytes);
    if (limited()) chosen_room_ = room_;  // the search for fates gave its plan so many bytes
    sequence_ = listing.sequence;
    if (listing.late) room_ = 0;
  }

  /// Returns the request to the strategy for fates. The request refers to `together`, which the function sets.
  FateRequest asked(const ChainOnDevices& own, SideBySide& together) {
    const auto& [chain, states, on_devices] = own;
    const std::int64_t count =
        order_.weights_stay ? 1 : std::min(order_.in_flight.value_or(1), per_batch());
    if (!order_.weights_stay && !chain.stages.empty())
      together = side_by_side(chain, states, request_.workload,
                              sluice::shape_of(request_, order_, count), on_devices);
    FateRequest asked{order_.weights_stay ? chain : together.chain, budget(), order_.overlap};
    asked.score = [this, &chain = own.chain, &states = own.states, count, fastest = worth_](
                      const Tape& tape, std::int64_t bytes) mutable {
      const StepShape shape = step_of({chain, tape, states}, count);
      const Listing listing{request_, shape, order_, room_of(bytes)};
      Scored scored = several_listings_
                          ? found_listings_.score(listing, {&chain, tape, bytes}, fastest)
                          : score(listing);
      scored.bytes -= constants(states).bytes(0);
      return scored;
    };
    const bool several = per_batch() > 1 || (order_.devices.size() > 1 && one_of_many(order_));
    asked.one_of_several = !order_.weights_stay && (several || request_.made_to_change);
    asked.steps = static_cast<double>(request_.workload.steps);
    asked.run =
        order_.weights_stay ? run_of(request_.workload, own_.chain, own_.states) : together.run;
    asked.shortage = [this, &chain = own.chain, &states = own.states, count](const Tape& tape) {
      const StepInputs inputs{chain, tape, states};
      const Program step = make_step(with_equal_peaks(shape_of(inputs, count)));
      if (!limited() || !fits(step)) return worst_shortage(step, states, capacities_);
      // The search gives its plan at most so many bytes.
      const DeviceBytes most = room_of(budget().value_or(no_limit)).value_or(capacities_);
      return shortage_of_run({request_, step_of(inputs, count), order_, most})
          .value_or(worst_shortage(step, states, most));
    };
    return asked;
  }

  /// Returns how many bytes of each device may be used, including the tensors that stay there. Empty means unlimited.
  std::optional<DeviceBytes> room_of(std::int64_t bytes) const {
    if (bytes == std::numeric_limits<std::int64_t>::max()) return {};
    const std::int64_t each =
        checked_add(shares(bytes, static_cast<std::int64_t>(order_.devices.size())),
                    constants(own_.states).not_in_chain(own_.chain.devices), "bytes of training");
    if (weights_stay_) return each;
    const auto at_most = [&](std::int64_t own, std::size_t) { return std::min(each, own); };
    return capacities_.changed(order_.devices.size(), at_most);
  }

  std::optional<std::int64_t> budget() const {
    std::optional<std::int64_t> bytes = bytes_of_all(request_, order_);
    if (!bytes) return bytes;
    const Constants constants = this->constants(own_.states);
    *bytes = constants.leave_of(*bytes, own_.chain.devices);
    const auto shortage = shortage_of_constants(constants, order_.devices, capacities_);
    if (!shortage || (constants.most() == 0 && !weights_stay_)) return bytes;
    throw Infeasible("does not fit: weights, gradients and optimizer state take " +
                         format_bytes(*shortage->needed_bytes) + " of the " +
                         format_bytes(*shortage->available_bytes) + " of " + shortage->pool +
                         advice_to_turn(),
                     *shortage);
  }
  Constants constants(const std::vector<StageState>& states) const {
    return {states, weights_stay_, order_.devices.size()};
  }
  const char* advice_to_turn() const {
    if (order_.weights_stay) return "; use policy streamed, under which weights take turns";
    return weights_stay_ ? "; cut the model into several stages, which take turns"
                         : "; let the weights of fewer stages stay";
  }

  /// Returns the number of micro-batches in flight. If `order_` has no number, a strategy that searches gets 1.
  /// Otherwise a batch gets the fewest passes that memory allows, about equally large: small passes hide few transfers.
  std::int64_t in_flight() {
    if (order_.in_flight) return *order_.in_flight;
    if (strategy_.searches) return 1;
    const std::int64_t most = most_in_flight().value_or(1);
    const std::int64_t passes = shares(per_batch(), most), equal = shares(per_batch(), passes);
    if (equal < most) facts_.insert(facts_.begin(), {"fit_in_flight", most});
    return equal;
  }
  bool limited() const { return capacities_.least() < no_limit; }
  static std::int64_t shares(std::int64_t all, std::int64_t per) { return (all + per - 1) / per; }
  bool fits(const Program& step) const {
    return peaks_of(step, order_.devices.size()).within(capacities_);
  }
  /// Returns the greatest number of micro-batches in flight that fits, or nothing if not even one fits.
  std::optional<std::int64_t> most_in_flight() const {
    if (!limited()) return per_batch();
    const auto count_fits = [this](std::int64_t count) {
      return fits(make_step(with_equal_peaks(shape_of(inputs(), count))));
    };
    if (!count_fits(1)) return {};
    return largest_that_fits(1, per_batch() + 1, count_fits);
  }

  Shortage worst_shortage(const Program& step, const std::vector<StageState>& states,
                          const DeviceBytes& capacities) const {
    const WorstMoment worst = worst_moment(step, order_.devices.size(), capacities);
    return held_at(worst, step, order_.devices, constants(states));
  }

  [[noreturn]] void refuse(const Program& step, std::int64_t in_flight) const {
    const WorstMoment worst = worst_moment(step, order_.devices.size(), capacities_);
    const Program::Operation& slot = step.operations[static_cast<std::size_t>(worst.operation)];
    Shortage shortage = held_at(worst, step, order_.devices, constants(own_.states));
    std::string message = "does not fit: training with " + std::to_string(in_flight) +
                          (in_flight == 1 ? " micro-batch" : " micro-batches") +
                          " in flight needs " + bytes_text(worst.bytes) + " of the " +
                          format_bytes(worst.capacity) + " of " + shortage.pool + ", in the " +
                          std::string(name_of(slot.kind)) + " of " +
                          own_.chain.stages[static_cast<std::size_t>(slot.stage)].name + ":";
    for (const auto& [name, bytes] : shortage.by_class)
      message += "\n  " + name + ": " + format_bytes(bytes);
    if (in_flight > 1) {
      const std::optional<std::int64_t> most = most_in_flight();
      shortage.most_in_flight = most.value_or(0);
      if (!most) message += "\n  not even one micro-batch fits with this cut and these fates";
    }
    throw Infeasible(message + "\n  " + advice_to_need_less(request_, order_), std::move(shortage));
  }

  void add_facts(const Program& step, std::int64_t in_flight, const DeviceBytes& peaks) {
    facts_.insert(facts_.begin(), {{"in_flight", in_flight},
                                   {"passes_per_batch", step.passes},
                                   {"fates", strategy_.name},
                                   {"bytes_needed", peaks.greatest(), "byte"}});
    if (const std::int64_t stays = Constants{own_.states}.bytes_of_all(); stays > 0)
      facts_.push_back({"resident_bytes", stays, "byte"});
    if (explained_) return;
    const std::vector<std::string> fates = fates_text(own_.chain, tape_);
    for (std::size_t s = 0, next = 0; s < fates.size(); s = next) {
      while (next < fates.size() && fates[next] == fates[s]) ++next;
      std::string stages = std::to_string(s + 1);
      if (next > s + 1) stages += ".." + std::to_string(next);
      facts_.push_back(Fact("fate_of_stage", fates[s]).said_of(stages));
    }
  }

  const PolicyRequest& request_;
  const TrainingOrder& order_;
  const Chosen<FateStrategy> fates_;
  const FateStrategy& strategy_;
  ChainOnDevices own_;
  /// The chain with selective recomputation, or an empty chain if the strategy does not choose whether to use it.
  ChainOnDevices selective_own_;
  /// Both chains for several micro-batches side by side. If weights take turns, fates are chosen for these chains.
  SideBySide together_, selective_together_;
  DeviceBytes capacities_;  ///< capacities() of the devices that take turns
  LoadSequence sequence_;
  bool weights_stay_;
  Tape tape_;
  bool selective_ = false;  ///< whether own_ is for selective recomputation
  bool explained_ = false;
  /// The bytes that early loads may use, and those that the whole run may use.
  std::optional<DeviceBytes> room_, chosen_room_;
  std::vector<Fact> facts_;
  bool has_facts_ = false;  ///< whether facts_ has the facts of chosen_step()
  FoundListings found_listings_;
  bool several_listings_ = false;  ///< whether a search tries several ways to list the loads
  double worth_ = never;           ///< only runs that take fewer seconds are of use to the search
};

}  // namespace

void with_step_shape(const PolicyRequest& request, const TrainingOrder& order,
                     const std::function<void(const StepShape&)>& use) {
  const TrainingPlan plan(request, order);
  use(plan.whole_step());
}

class ChosenStep::Parts {
 public:
  Parts(const PolicyRequest& request, const TrainingOrder& order,
        const std::optional<std::int64_t>& memory)
      : plan(request, order),
        offers(with_waits_for_sums(plan.chosen_step(), request.replicas), request, order, memory,
               request.replicas) {}

  TrainingPlan plan;
  LoadOffers offers;
};

ChosenStep::ChosenStep(const PolicyRequest& request, const TrainingOrder& order,
                       std::optional<std::int64_t> memory)
    : parts_(std::make_unique<Parts>(request, order, memory)) {}

ChosenStep::~ChosenStep() = default;

const DeviceBytes& ChosenStep::peaks() const {
  return parts_->offers.peaks();
}

const Program& ChosenStep::program() const {
  return parts_->offers.step();
}

ChosenStep::Offer ChosenStep::offer(const EarlyLoadLimits& limits) const {
  return parts_->offers.offer(limits);
}

double ChosenStep::at_least() const {
  return parts_->offers.at_least();
}

double ChosenStep::at_least(const EarlyLoadLimits& limits, const Offer& offer) const {
  return parts_->offers.at_least(limits, offer);
}

Draft ChosenStep::listed(const EarlyLoadLimits& limits, const std::vector<LoadPlace>* places,
                         bool named) const {
  return parts_->plan.listed(parts_->offers.scratch(), peaks(), limits, places, named);
}

FateChoice choose_fates(const PolicyRequest& request, const TrainingOrder& order, double worth,
                        TriedListing* listing) {
  TrainingOrder none = order;
  none.chosen = std::make_shared<const FateChoice>();
  return TrainingPlan(request, none).choice(worth, listing);
}

Draft plan_training(const PolicyRequest& request, const TrainingOrder& order) {
  Draft draft = TrainingPlan(request, order).make();
  if (!request.strategy().searches)
    draft.decisions = [order, known = std::make_shared<KnownStep>()](const PolicyRequest& priced) {
      return TrainingPlan(priced, order).decisions(*known);
    };
  return draft;
}

}  // namespace sluice
