// Training plans for one device, or for devices that take turns. A plan has forward passes, backward passes, sums of
// gradients, and updates. It keeps, recomputes or offloads each activation, as the activation's fate says. The policies
// `resident`, `streamed` and `phased` make such plans. The plans of these policies differ in three things: whether
// weights stay on the device, how many devices take turns, and how many micro-batches run side by side. fates/chain.hpp
// explains chains, and fates/tape.hpp explains tapes.
#pragma once

#include <functional>
#include <limits>
#include <memory>

#include "fates/strategy.hpp"
#include "planning/candidate.hpp"
#include "planning/device_bytes.hpp"
#include "planning/draft.hpp"
#include "planning/request.hpp"
#include "planning/slots/load_places.hpp"
#include "planning/training/pace.hpp"
#include "planning/training/step.hpp"
#include "planning/training/step_sums.hpp"

namespace sluice {

/// How the passes of a micro-batch run.
struct PassOptions {
  /// If true, a stage does not keep the tensors that selective recomputation drops, and its backward pass first
  /// computes them again.
  bool selective = false;
  bool overlap = true;  ///< whether copies run during computation
};

/// Returns the chain of the request's stages.
Chain chain_of(const PolicyRequest& request, const Device& device, const PassOptions& passes);

/// Returns for each stage the boundaries that it reads (ChainStage::reads). The result is empty if each stage reads
/// only the output of the previous stage.
std::vector<std::vector<ChainRead>> branching_reads(const Pricing& pricing);

/// Returns for each stage the bytes of its weights, gradients and optimizer state, and the seconds of their copies and
/// of the update on this device. `staying` is TrainingOrder::staying.
std::vector<StageState> states_of(const PolicyRequest& request, const Device& device,
                                  const PassOptions& passes,
                                  const std::vector<StayingTensors>& staying = {});

/// Returns how many bytes of host memory are left beside the tensors whose home it is. These are the inputs of a step
/// and the weights, optimizer state that takes turns, and, if there are no updates, gradients that take turns. The
/// number is negative if they do not fit. Returns nullopt if host memory is unlimited.
std::optional<std::int64_t> host_bytes_left(const PolicyRequest& request,
                                            const std::vector<StageState>& states,
                                            bool weights_stay);

/// Returns how many bytes of host memory are left for offloaded activations: host_bytes_left(), but at least 0.
std::optional<std::int64_t> host_room(const PolicyRequest& request,
                                      const std::vector<StageState>& states, bool weights_stay);

/// Returns how many batches and micro-batches a run has, and its seconds for the loads of weights and for updates. The
/// seconds for loads are those of a run in which all weights stay on the device.
FateRun run_of(const Workload& workload, const Chain& chain, const std::vector<StageState>& states);

/// Several micro-batches side by side, described as one chain: on one device, or on several devices that take turns.
/// `run` has the seconds of the run that do not belong to a pass of the chain.
struct SideBySide {
  Chain chain;
  FateRun run;
};
struct SideBySideShape {
  std::int64_t in_flight = 1;
  std::size_t devices = 1;
  bool overlap = true;  ///< with overlap, each device uses its own copy engines
  bool weights_stay = false;
  bool equal_memories = true;  ///< whether the devices have equally large memories
  /// With overlap: how many copies in one direction can be made at the same time without slowing each other down.
  /// Without a value, each device can make one.
  std::optional<double> copies_at_once = {};
};

/// If devices that take turns are not alike, `on_devices` has the chain with the prices of each device. Results that
/// are handed over then have the seconds of their copies on these devices.
SideBySide side_by_side(const Chain& chain, const std::vector<StageState>& states,
                        const Workload& workload, const SideBySideShape& shape,
                        const std::vector<Chain>& on_devices = {});

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// What a policy, and the candidate that it offers, have decided about a training run.
struct TrainingOrder {
  const char* policy = "";
  bool weights_stay =
      true;  ///< whether the weights, gradients and optimizer state of all stages stay on the device
  /// The number of micro-batches in flight. If empty, each batch is divided into as few passes as fit, all about
  /// equally large. For a strategy that searches for fates, the number is then 1.
  std::optional<std::int64_t> in_flight;
  std::vector<std::string> devices;  ///< the devices that take turns
  bool overlap = true;
  /// Early loads may fill each device up to its number of bytes. If empty, they may fill it completely. `room` also
  /// limits the whole run, unless `run_room` is given.
  std::optional<DeviceBytes> room = {};
  /// The fates, if a search has already found them for this number of micro-batches in flight. If null, the strategy
  /// chooses the fates. A search may have found a way to list the loads, too: `sequence` and `late` say which one.
  std::shared_ptr<const FateChoice> chosen = {};
  /// How many bytes of each device the whole run may use. If empty, it may use `room` bytes. The value `no_limit` means
  /// all bytes.
  std::optional<DeviceBytes> run_room = {};
  LoadSequence sequence = {};
  bool late = false;  ///< whether each load is listed before the operation that needs it
  /// Indexed by stage: which tensors of this stage stay on the device, although other tensors take turns. If empty,
  /// they take turns in every stage, unless `weights_stay`.
  std::vector<StayingTensors> staying = {};
  bool staying_open = false;  ///< whether different values of `staying` are compared
  /// Whether a strategy that searches for fates makes a search for this value of `staying`. If not, only strategies that
  /// treat all stages alike are tried with it.
  bool searched = true;
  /// Whether the order is tried only with a single pass per batch, or only with several. If empty, it is tried with any
  /// number of passes.
  std::optional<bool> one_pass = {};
};

/// Returns whether weights stay on the device: if `order` says so, or if there is only one stage and
/// one device.
bool weights_stay(const PolicyRequest& request, const TrainingOrder& order);

/// Returns whether all devices that take turns have equal prices and connections. If not, a bound that is computed with
/// the prices of one of them is false.
bool devices_alike(const PolicyRequest& request, const TrainingOrder& order);

/// Returns the sum of the capacities of all devices that take turns, or nothing if a device is unlimited or capacities
/// are not enforced.
std::optional<std::int64_t> bytes_of_all(const PolicyRequest& request, const TrainingOrder& order);

/// Returns the shape of a run for the given order and number of micro-batches in flight.
SideBySideShape shape_of(const PolicyRequest& request, const TrainingOrder& order,
                         std::int64_t in_flight);

/// Returns the fates that the strategy chooses for TrainingOrder::in_flight micro-batches in flight. A search need not
/// look for fates with which the run takes `worth` seconds or more. If `listing` is given, a search also tries several
/// ways to list the loads, and sets `*listing` to the way that belongs to the fates. Throws InputError, Infeasible.
FateChoice choose_fates(const PolicyRequest& request, const TrainingOrder& order, double worth,
                        TriedListing* listing = nullptr);

/// Returns the plan of a training run. Throws InputError. Throws Infeasible if the run does not fit. The message says
/// what does not fit and what would fit.
Draft plan_training(const PolicyRequest& request, const TrainingOrder& order);

/// The size of a step: its batches, the micro-batches of a batch, and how many of them are side by side.
struct StepSize {
  std::int64_t micro_batches = 1, in_flight = 1, batches = 1;
};
/// Returns the sums of a step for each of these sizes, which the step has instead of the sizes in the request. The
/// strategy for fates must not search: then its fates do not depend on the size.
std::vector<TrainingSums> training_sums(const PolicyRequest& request, const TrainingOrder& order,
                                        const std::vector<StepSize>& sizes);

/// Calls `use` with the shape of the step whose fates the strategy chooses. A round of this step has all batches. If
/// the order does not say how many micro-batches are in flight, there is one.
void with_step_shape(const PolicyRequest& request, const TrainingOrder& order,
                     const std::function<void(const StepShape&)>& use);

/// A step with chosen fates. Its loads may still be listed in several ways. `request` and `order` must outlive this
/// object. If `memory` is given, the bounds hold only for runs in which no device holds more than this number of bytes.
/// Throws InputError, Infeasible.
class ChosenStep {
 public:
  ChosenStep(const PolicyRequest& request, const TrainingOrder& order,
             std::optional<std::int64_t> memory = {});
  ~ChosenStep();

  /// Returns the most bytes that each device holds if the actions run one after the other.
  const DeviceBytes& peaks() const;
  /// Returns the step.
  const Program& program() const;

  /// The limits for the early loads of a step. These loads may fill each device up to `room` bytes, and load_late()
  /// places them in the sequence `sequence`.
  struct EarlyLoadLimits {
    DeviceBytes room = 0;
    LoadSequence sequence = {};
    /// How many bytes of each device the whole run may use. If empty, it may use `room` bytes.
    std::optional<DeviceBytes> run_room = {};
  };
  struct Offer {
    std::vector<LoadPlace> places;              ///< the places of the loads in the list
    std::vector<std::uint32_t> instances = {};  ///< the tensors that these loads bring
    DeviceBytes most = 0;  ///< this many bytes of each device are enough for these places
  };
  Offer offer(const EarlyLoadLimits& limits) const;
  /// Returns a lower bound on the seconds of the run, wherever its loads are listed. Returns 0 if none is known.
  double at_least() const;
  /// Returns a lower bound on the seconds of the run if its loads are listed as `offer` says.
  double at_least(const EarlyLoadLimits& limits, const Offer& offer) const;
  /// Returns the plan whose loads are listed as early as these limits allow. If `places` is given, each load is listed
  /// there instead. `named` is Listing::named.
  Draft listed(const EarlyLoadLimits& limits, const std::vector<LoadPlace>* places = nullptr,
               bool named = true) const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

/// Returns candidates for the judge. They differ in the number of micro-batches side by side, and in how early the
/// loads come. The result is empty if no choice is open, or if the strategy for fates itself makes all choices. All
/// objects to which `request` refers must outlive the candidates. There is one exception: if `stages` holds the stages
/// of the request, the candidates keep them alive.
std::vector<Candidate> training_candidates(
    const PolicyRequest& request, const TrainingOrder& order,
    std::shared_ptr<const std::vector<Stage>> stages = nullptr);

/// Returns a lower bound of the seconds of all plans that fit into the devices. The bound also holds for machines with
/// slower copies and kernels. Throws InputError.
double training_at_least(const PolicyRequest& request, const TrainingOrder& order);

/// Returns a lower bound of the seconds of all plans that fit into the devices, with any fates. Searches for the
/// greatest bound (fates/optimal/bound.hpp), and takes longer than training_at_least(). If no plan fits, returns
/// infinity. Throws InputError.
double any_fates_at_least(const PolicyRequest& request, const TrainingOrder& order);

/// Returns a text for the steps of the run: one step for each number of micro-batches in flight that is tried. If two
/// requests with the same stages have equal texts, they have equal steps. The text is empty if a search chooses the
/// fates, because a search may find other fates on another machine.
std::string steps_text(const PolicyRequest& request, const TrainingOrder& order);

/// Returns the candidates for a strategy for fates that searches. For each number in `in_flight`, one candidate has the
/// fates that the search finds for this number of micro-batches side by side. The other candidates come from the
/// strategies that treat all stages alike. If weights stay, the result may be empty.
std::vector<Candidate> searched_candidates(const PolicyRequest& request, const TrainingOrder& order,
                                           const std::vector<std::int64_t>& in_flight,
                                           std::shared_ptr<const std::vector<Stage>> stages);

/// Returns the most bytes that each of the first `devices` devices holds if the actions run one after the other.
DeviceBytes peaks_of(const Program& step, std::size_t devices);

/// Says how a step is listed as a plan. Loads come as late as they can without making an action wait, but never before
/// there is room for them within `capacity`.
struct Listing {
  const PolicyRequest& request;
  const StepShape& shape;
  const TrainingOrder& order;
  std::optional<DeviceBytes> capacity;  ///< bytes of each device
  LoadSequence sequence = {};
  /// The places of the loads, in the order in which operations need them. If null, load_late() and the room in memory
  /// decide the places.
  const std::vector<LoadPlace>* places = nullptr;
  bool named = true;  ///< whether tensors and actions get names, which a simulation does not need
};
/// Returns the plan. Sets the devices, the rounds and the loads of the step for it. Sets `*most` to the bytes that the
/// first device needs for this listing.
Draft list_training(const Listing& listing, Program& step, const std::vector<Fact>& facts,
                    std::int64_t* most = nullptr);

/// Returns the simulated seconds of a run whose plan is listed as `listing` says, and the bytes that the first device
/// needs. The bytes include weights, gradients and optimizer state that stay.
Scored score(const Listing& listing);

/// Returns what is missing in this run. If the run reaches its end, returns nothing.
std::optional<Shortage> shortage_of_run(const Listing& listing);

}  // namespace sluice
