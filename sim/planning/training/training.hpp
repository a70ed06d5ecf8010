// Training plans for one device: forward and backward passes of a batch's micro-batches under the fates of their
// activations, sums of gradients, and updates. The policies resident and streamed use it; they differ in where the
// weights are and in how many micro-batches run side by side. fates/chain.hpp explains chains, and fates/tape.hpp
// tapes.
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

/// Returns the chain of the request's stages. With `selective`, the chain does not keep what selective recomputation
/// drops, and the recomputation counts as part of the backward pass. With `overlap`, copies run during computation.
Chain chain_of(const PolicyRequest& request, const Device& device, bool selective, bool overlap);

/// Returns for each stage the boundaries that it reads (ChainStage::reads), if the network branches between stages. The
/// result is empty if each stage reads only what the stage before it makes.
std::vector<std::vector<ChainRead>> branching_reads(const Pricing& pricing);

/// Weights, gradients and optimizer state of each stage on that device.
std::vector<StageState> states_of(const PolicyRequest& request, const Device& device,
                                  bool selective, bool overlap);

/// Bytes of host memory that the inputs of a step and the weights leave free. If weights take turns, gradients and
/// optimizer state take their room as well. An empty result means unlimited.
std::optional<std::int64_t> host_room(const PolicyRequest& request,
                                      const std::vector<StageState>& states, bool weights_stay);

/// What a run does outside of its micro-batches, in seconds, if weights stay on the device.
FateRun run_of(const Workload& workload, const std::vector<StageState>& states);

/// Several micro-batches side by side as one chain, and the times outside of its passes. They run on one device, or on
/// several that take turns.
struct SideBySide {
  Chain chain;
  FateRun run;
};
struct SideBySideShape {
  std::int64_t in_flight = 1;
  std::size_t devices = 1;
  bool overlap = true;  ///< each device then has its own copy engines
  bool weights_stay = false;
};
SideBySide side_by_side(const Chain& chain, const std::vector<StageState>& states,
                        const Workload& workload, const SideBySideShape& shape);

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

struct TrainingOrder {
  const char* policy = "";
  bool weights_stay = true;
  std::optional<std::int64_t> in_flight;  ///< empty means equal shares of the fewest passes
  std::vector<std::string> devices;       ///< devices that take turns
  bool overlap = true;
  /// Bytes of each device that early loads, and the whole run, may use. If this is empty, they may use all bytes.
  std::optional<std::int64_t> room = {};
  /// The fates that a search has already found for this number of micro-batches in flight. If this is null, the
  /// strategy is asked.
  std::shared_ptr<const FateChoice> chosen = {};
  /// The bytes that the whole run may use, if they are more than early loads may use. The value `no_limit` means all
  /// bytes.
  std::optional<std::int64_t> run_room = {};
  std::optional<double> pace = {};  ///< by which loads are timed: see load_late()
};

/// Whether weights stay although the policy lets them take turns. This is so for a single stage, which never has to
/// make room.
bool weights_stay(const PolicyRequest& request, const TrainingOrder& order);

/// The bytes of all devices that take turns, or nothing if they are unlimited.
std::optional<std::int64_t> bytes_of_all(const PolicyRequest& request, const TrainingOrder& order);

/// Returns the fates that the strategy chooses for this number of micro-batches in flight, if they take less than
/// `worth` seconds. Throws InputError, Infeasible.
FateChoice choose_fates(const PolicyRequest& request, const TrainingOrder& order, double worth);

/// Returns the plan of a training run. Throws InputError. Throws Infeasible, which says what does not fit and what
/// would fit.
Draft plan_training(const PolicyRequest& request, const TrainingOrder& order);

/// What a step must compute and copy, in seconds, each counted alone. With overlap, copies are averaged over
/// the devices that take turns. It also holds the most bytes of a device when everything runs one after the
/// other.
struct TrainingSums {
  double compute_s = 0, load_s = 0, save_s = 0;
  /// The loads without which the first operation cannot start, and the saves that follow the last one. They are known
  /// for one device with overlap, and 0 otherwise.
  double first_loads_s = 0, last_saves_s = 0;
  std::int64_t peak = 0;
};
TrainingSums training_sums(const PolicyRequest& request, const TrainingOrder& order);

/// A step whose fates are chosen. It may be listed in several ways. The objects from which it is made must outlive it.
/// Throws InputError, Infeasible.
class ChosenStep {
 public:
  ChosenStep(const PolicyRequest& request, const TrainingOrder& order);
  ~ChosenStep();

  /// The most bytes that a device holds when everything runs one after the other.
  std::int64_t peak() const;
  std::int64_t operations() const;

  /// How early the loads of a step come: how many bytes of each device they may use, and by which pace they are timed.
  struct EarlyLoadLimits {
    std::int64_t room = 0;
    std::optional<double> pace = {};
    std::optional<std::int64_t> run_room = {};  ///< room of the whole run; if empty, `room`
  };
  struct Offer {
    std::vector<LoadPlace> places;  ///< where its loads are listed
    std::int64_t most = 0;          ///< bytes of a device that are enough for these places
  };
  Offer offer(const EarlyLoadLimits& ahead) const;
  /// A lower bound on the seconds of the run with the loads of this offer.
  double at_least(const EarlyLoadLimits& ahead, const Offer& offer) const;
  /// Returns the plan whose loads are placed within these limits.
  Draft listed(const EarlyLoadLimits& ahead) const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

/// Candidates for the judge: numbers of micro-batches side by side, and how early loads come. There are none if nothing
/// is open, or if the strategy for fates itself uses the device's memory. Everything that `request` refers to must
/// outlive them, except `stages`, if these are its stages.
std::vector<Candidate> training_candidates(
    const PolicyRequest& request, const TrainingOrder& order,
    std::shared_ptr<const std::vector<Stage>> stages = nullptr);

/// The candidates for a strategy that searches: what it finds for each number of micro-batches side by side, and the
/// strategies that treat every stage alike. There are none if weights stay.
std::vector<Candidate> searched_candidates(const PolicyRequest& request, const TrainingOrder& order,
                                           const std::vector<std::int64_t>& in_flight,
                                           std::shared_ptr<const std::vector<Stage>> stages);

/// The most bytes that any of these devices holds when everything runs one after the other.
std::int64_t peak_of(const Program& step, std::size_t devices);

/// How a step is listed as a plan. Loads come as late as possible, but so early that nothing waits for them, if
/// `capacity` has room for them.
struct Listing {
  const PolicyRequest& request;
  const StepShape& shape;
  const TrainingOrder& order;
  std::optional<std::int64_t> capacity;  ///< bytes of a device
  std::optional<double> pace = {};       ///< by which loads are timed: see load_late()
};
/// `most` is set to the bytes that the first device needs for this listing.
Draft list_training(const Listing& listing, Program step, const std::vector<Fact>& facts,
                    std::int64_t* most = nullptr);

/// The score of a run that is listed in this way on a first device of that capacity. Its bytes include everything that
/// stays there.
Scored score(const Listing& listing);

}  // namespace sluice
