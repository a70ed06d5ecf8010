// Training plans for one device: forward and backward passes of a batch's micro-batches under the
// fates of their activations, sums of gradients, updates. The policies resident and streamed train
// with it; they differ in where weights are and in how many micro-batches go side by side.
#pragma once

#include <limits>
#include <memory>

#include "fates/strategy.hpp"
#include "planning/candidate.hpp"
#include "planning/draft.hpp"
#include "planning/load_places.hpp"
#include "planning/parts.hpp"
#include "planning/training/step.hpp"

namespace sluice {

/// The stages as the choice of fates sees them. `selective`: what selective recomputation drops is
/// not kept, and its recomputation is part of the backward pass. `overlap`: copies run beside
/// computation.
Chain chain_of(const PolicyRequest& request, const Device& device, bool selective, bool overlap);

/// Weights, gradients and optimizer state of each stage on that device.
std::vector<StageState> states_of(const PolicyRequest& request, const Device& device,
                                  bool selective, bool overlap);

/// Bytes of host memory beside what has its place there: inputs of a step, weights, and where these
/// take turns, what goes with them. None: without limit.
std::optional<std::int64_t> host_room(const PolicyRequest& request,
                                      const std::vector<StageState>& states, bool weights_stay);

/// What is around the micro-batches of a run whose weights stay.
FateRun run_of(const Workload& workload, const std::vector<StageState>& states);

/// So many micro-batches side by side, as the choice of fates sees them, on one device or on
/// several that take turns: a chain of all of them, and what is around its passes.
struct SideBySide {
  Chain chain;
  FateRun run;
};
struct SideBySideShape {
  std::int64_t in_flight = 1;
  std::size_t devices = 1;
  bool overlap = true;  ///< each device then has engines of its own for copies
  bool weights_stay = false;
};
SideBySide side_by_side(const Chain& chain, const std::vector<StageState>& states,
                        const Workload& workload, const SideBySideShape& shape);

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

struct TrainingOrder {
  const char* policy = "";
  bool weights_stay = true;
  std::optional<std::int64_t> in_flight;  ///< none: equal shares of the fewest passes
  std::vector<std::string> devices;       ///< that take turns
  bool overlap = true;
  /// Bytes of each device that early loads, and the run as a whole, stay within; none: all of it.
  std::optional<std::int64_t> room = {};
  /// What a search for fates has found for so many in flight; null: the strategy is asked.
  std::shared_ptr<const FateChoice> chosen = {};
  /// The run as a whole, where it may have more than early loads; or no_limit.
  std::optional<std::int64_t> run_room = {};
  std::optional<double> pace = {};  ///< by which loads are timed: see load_late()
};

/// Also where they might take turns: one stage alone on one device has nobody to give way to.
bool weights_stay(const PolicyRequest& request, const TrainingOrder& order);

/// Of all devices that take turns; none: without limit.
std::optional<std::int64_t> bytes_of_all(const PolicyRequest& request, const TrainingOrder& order);

/// What the strategy for fates chooses for so many in flight, where that takes less than `worth`
/// seconds. Throws InputError, Infeasible.
FateChoice choose_fates(const PolicyRequest& request, const TrainingOrder& order, double worth);

/// Throws InputError, Infeasible (what does not fit, and what would).
Draft plan_training(const PolicyRequest& request, const TrainingOrder& order);

/// What a step has to compute and to copy, in seconds, each alone (copies beside computation: the
/// mean of the devices that take turns); and the most bytes that a device holds while everything
/// runs one after the other.
struct TrainingSums {
  double compute_s = 0, load_s = 0, save_s = 0;
  std::int64_t peak = 0;
};
TrainingSums training_sums(const PolicyRequest& request, const TrainingOrder& order);

/// A step whose fates are chosen, to be listed in several ways. What it is made from must outlive
/// it. Throws InputError, Infeasible.
class ChosenStep {
 public:
  ChosenStep(const PolicyRequest& request, const TrainingOrder& order);
  ~ChosenStep();

  /// The most bytes that a device holds while everything runs one after the other.
  std::int64_t peak() const;
  std::int64_t operations() const;

  /// How far its loads go ahead: within so many bytes of each device, timed by that pace.
  struct Ahead {
    std::int64_t room = 0;
    std::optional<double> pace = {};
    std::optional<std::int64_t> run_room = {};  ///< of the run as a whole; none: that room
  };
  struct Offer {
    std::vector<LoadPlace> places;  ///< of its loads
    double at_least = 0;            ///< s: no run with the loads there is faster
    std::int64_t most = 0;          ///< bytes of a device with which they would be there, too
  };
  Offer offer(const Ahead& ahead) const;
  /// The plan whose loads go ahead so.
  Draft listed(const Ahead& ahead) const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

/// How many micro-batches go side by side, and how far loads go ahead, as candidates for the judge;
/// none where nothing is open, or the strategy for fates looks at the device's memory itself. What
/// `request` refers to must outlive them, but `stages`, where they are its stages.
std::vector<Candidate> training_candidates(
    const PolicyRequest& request, const TrainingOrder& order,
    std::shared_ptr<const std::vector<Stage>> stages = nullptr);

/// The same under a strategy that searches: what it finds for each number of micro-batches side by
/// side, beside the strategies that treat every stage alike. None where weights stay.
std::vector<Candidate> searched_candidates(const PolicyRequest& request, const TrainingOrder& order,
                                           const std::vector<std::int64_t>& in_flight,
                                           std::shared_ptr<const std::vector<Stage>> stages);

/// The most bytes that any of so many devices holds while everything runs one after the other.
std::int64_t peak_of(const Program& step, std::size_t devices);

/// Lists a step as a plan. Loads come as late as they can without being waited for, as far as
/// `capacity` has room for them.
struct Listing {
  const PolicyRequest& request;
  const StepShape& shape;
  const TrainingOrder& order;
  std::optional<std::int64_t> capacity;  ///< bytes of a device
  std::optional<double> pace = {};       ///< of loads: see load_late()
};
/// `most`: becomes the bytes of the first device with which everything would be listed alike.
Draft list_training(const Listing& listing, Program step, const std::vector<Fact>& facts,
                    std::int64_t* most = nullptr);

/// The run that is listed so, on a first device of that capacity; bytes with all that stays there.
Scored score(const Listing& listing);

}  // namespace sluice
