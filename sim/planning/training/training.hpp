// Training plans for one device, or for devices that take turns. A plan has forward and backward passes under the fates
// of activations, sums of gradients, and updates. The policies `resident`, `streamed` and `phased` use these plans.
// Their plans differ in the place of the weights, in the devices, and in the number of micro-batches side by side.
// fates/chain.hpp explains chains, and fates/tape.hpp explains tapes.
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

/// Returns the chain of the request's stages. With `selective`, stages of the chain do not keep the tensors of
/// selective recomputation. Their backward passes compute these tensors again. With `overlap`, copies run during
/// computation.
Chain chain_of(const PolicyRequest& request, const Device& device, bool selective, bool overlap);

/// Returns for each stage the boundaries that it reads (ChainStage::reads). If each stage reads only the output of the
/// previous stage, the result is empty.
std::vector<std::vector<ChainRead>> branching_reads(const Pricing& pricing);

/// Returns, for each stage, the bytes and seconds of its weights, gradients and optimizer state on this device.
std::vector<StageState> states_of(const PolicyRequest& request, const Device& device,
                                  bool selective, bool overlap);

/// Returns the bytes of host memory that the inputs of a step and the weights leave free. If weights take turns,
/// optimizer state and gradients without updates are subtracted, too. Returns nullopt if host memory is unlimited.
std::optional<std::int64_t> host_room(const PolicyRequest& request,
                                      const std::vector<StageState>& states, bool weights_stay);

/// Returns the counts of a run, and its seconds of loads and updates, if the weights stay on the device.
FateRun run_of(const Workload& workload, const std::vector<StageState>& states);

/// Several micro-batches side by side as one chain. `run` has the seconds of the run outside the chain's passes. The
/// chain runs on one device, or on several devices that take turns.
struct SideBySide {
  Chain chain;
  FateRun run;
};
struct SideBySideShape {
  std::int64_t in_flight = 1;
  std::size_t devices = 1;
  bool overlap = true;  ///< with overlap, each device uses its own copy engines
  bool weights_stay = false;
};
SideBySide side_by_side(const Chain& chain, const std::vector<StageState>& states,
                        const Workload& workload, const SideBySideShape& shape);

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

struct TrainingOrder {
  const char* policy = "";
  bool weights_stay = true;
  /// The number of micro-batches in flight. If empty, a batch has the fewest passes that fit, all about equal.
  std::optional<std::int64_t> in_flight;
  std::vector<std::string> devices;  ///< the devices that take turns
  bool overlap = true;
  /// Early loads may fill each device up to this number of bytes, or completely if `room` is empty.
  /// If `run_room` is empty, `room` limits the whole run.
  std::optional<std::int64_t> room = {};
  /// The fates that a search has already found for this number of micro-batches in flight. If there are none, the
  /// strategy chooses the fates.
  std::shared_ptr<const FateChoice> chosen = {};
  /// By default, the run stays within `room`. This number allows the whole run more bytes of each device. The value
  /// `no_limit` means all bytes.
  std::optional<std::int64_t> run_room = {};
  std::optional<double> pace = {};  ///< the pace of loads, see load_late()
};

/// Returns whether weights stay on the device. The weights of a single stage on a single device always stay.
bool weights_stay(const PolicyRequest& request, const TrainingOrder& order);

/// Returns the sum of the capacities of all devices that take turns. If a device is unlimited, returns nothing.
std::optional<std::int64_t> bytes_of_all(const PolicyRequest& request, const TrainingOrder& order);

/// Returns the fates that the strategy chooses for this number of micro-batches in flight. The search
/// may give up fates with which the run takes `worth` seconds or more. Throws InputError, Infeasible.
FateChoice choose_fates(const PolicyRequest& request, const TrainingOrder& order, double worth);

/// Returns the plan of a training run. Throws InputError. Throws Infeasible with a message that says what does not fit
/// and what would fit.
Draft plan_training(const PolicyRequest& request, const TrainingOrder& order);

/// The seconds of all computations, all loads and all saves of a step. If the host of the platform stands for a second
/// memory, inputs use other links on the real machine. Loads of inputs do not count then. With overlap, the seconds of
/// copies are divided by the number of devices that take turns, because each device has its own copy engines. `peak` is the most bytes that a device holds if all actions run
/// one after the other.
struct TrainingSums {
  double compute_s = 0, load_s = 0, save_s = 0;
  double additions = 0;  ///< the number of all computations, loads and saves of a step
  /// The seconds of the loads before the first operation, and of the saves after the last operation. Both are known
  /// only with overlap, for one device and the real host. Otherwise both are 0.
  double first_loads_s = 0, last_saves_s = 0;
  std::int64_t peak = 0;
};
TrainingSums training_sums(const PolicyRequest& request, const TrainingOrder& order);

/// A step whose fates are chosen. The step may be listed in several ways. The objects from which the step is made must
/// outlive the step. Throws InputError, Infeasible.
class ChosenStep {
 public:
  ChosenStep(const PolicyRequest& request, const TrainingOrder& order);
  ~ChosenStep();

  /// Actions run one after the other. Returns the most bytes that a device then holds.
  std::int64_t peak() const;
  /// Returns the operations of the step and its loads.
  const Program& program() const;

  /// The limits for the early loads of a step. Early loads may fill each device up to `room` bytes,
  /// and `pace` is the pace by which they are timed.
  struct EarlyLoadLimits {
    std::int64_t room = 0;
    std::optional<double> pace = {};
    /// The bytes that the whole run may use. Empty means `room`.
    std::optional<std::int64_t> run_room = {};
  };
  struct Offer {
    std::vector<LoadPlace> places;  ///< the places of the loads in the list
    std::int64_t most = 0;          ///< this many bytes of a device are enough for these places
  };
  Offer offer(const EarlyLoadLimits& limits) const;
  /// Returns a lower bound on the seconds of the run with the loads of this offer.
  double at_least(const EarlyLoadLimits& limits, const Offer& offer) const;
  /// Returns the plan with the loads that these limits allow.
  Draft listed(const EarlyLoadLimits& limits) const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

/// Returns candidates for the judge. They differ in the number of micro-batches side by side, and in how early the
/// loads come. If no choice is open, there are no candidates. If the strategy for fates itself makes all choices, there
/// are none, either. All objects to which `request` refers must outlive the candidates. If `stages` holds the stages of
/// the request, they may end earlier.
std::vector<Candidate> training_candidates(
    const PolicyRequest& request, const TrainingOrder& order,
    std::shared_ptr<const std::vector<Stage>> stages = nullptr);

/// Returns the candidates for a strategy for fates that searches. One candidate is the result of
/// the search for one number of micro-batches side by side. Other candidates come from the
/// strategies that treat all stages alike. There may be no candidates if weights stay.
std::vector<Candidate> searched_candidates(const PolicyRequest& request, const TrainingOrder& order,
                                           const std::vector<std::int64_t>& in_flight,
                                           std::shared_ptr<const std::vector<Stage>> stages);

/// Actions run one after the other. Returns the most bytes that any of these devices then holds.
std::int64_t peak_of(const Program& step, std::size_t devices);

/// Says how a step is listed as a plan. Loads come as late as they can without delaying an action. No load comes before
/// `capacity` has room for it.
struct Listing {
  const PolicyRequest& request;
  const StepShape& shape;
  const TrainingOrder& order;
  std::optional<std::int64_t> capacity;  ///< bytes of a device
  std::optional<double> pace = {};       ///< the pace of loads, see load_late()
};
/// Returns the plan. `most` is set to the bytes that the first device needs for this listing.
Draft list_training(const Listing& listing, Program step, const std::vector<Fact>& facts,
                    std::int64_t* most = nullptr);

/// Returns the seconds and bytes of a run whose plan follows `listing`, on a device with the
/// capacity of `listing`. The bytes include weights, gradients and optimizer state that stay.
Scored score(const Listing& listing);

}  // namespace sluice
