// Decides where the loads of a training step are listed within given limits, and computes a lower bound of the seconds
// of the run.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "planning/training/step_clock.hpp"
#include "planning/training/training.hpp"

namespace sluice {

/// Returns whether all loads of the step are loads of inputs.
bool loads_only_inputs(const Program& step);

/// Returns whether the loads of a round take longer than its computations. If they do not, load_late() places them so
/// that each load arrives before the operation that needs it, so they need not come earlier.
bool loads_outlast_computations(const Program& step);

/// Returns the places of these loads of the step. `memories` has the memory of each device without early loads, and
/// gets the loads.
std::vector<LoadPlace> places_of(const Program& step, const std::vector<Program::Load>& loads,
                                 std::vector<LoadPlaces>& memories);

class LoadOffers {
 public:
  /// `request`, the objects to which it refers, and `order` must outlive this object. If `memory` is given, the bounds
  /// hold only for runs in which no device holds more than this number of bytes. `replicas` is as for StepClock.
  LoadOffers(Program step, const PolicyRequest& request, const TrainingOrder& order,
             std::optional<std::int64_t> memory = {}, const EqualReplicas* replicas = nullptr);
  LoadOffers(const LoadOffers&) = delete;
  LoadOffers& operator=(const LoadOffers&) = delete;

  ChosenStep::Offer offer(const ChosenStep::EarlyLoadLimits& limits);
  double at_least() const;
  double at_least(const ChosenStep::EarlyLoadLimits& limits, const ChosenStep::Offer& offer);
  /// All loads of the step must be loads of inputs. Returns the pace with which the run is fastest if it may use
  /// these bytes of each device: the pace of the machine itself, unless loads that come as early as possible make the
  /// run faster. Where there is room for such loads, no other places of the loads lead to a faster run.
  std::optional<Pace> pace_of_inputs(const DeviceBytes& capacities);
  const Program& step() const { return step_; }
  /// Returns the step for a caller that sets its loads, which have no meaning between two calls of this class.
  Program& scratch() { return step_; }
  /// Returns the most bytes that each device holds if the actions run one after the other.
  const DeviceBytes& peaks() const { return peaks_; }

 private:
  const std::vector<Program::Load>& loads(const LoadSequence& sequence);

  const TrainingOrder& order_;
  const Platform& platform_;
  Program step_;
  StepClock clock_;
  /// Whether all devices are alike, so that an operation takes equally long on each of them.
  bool priced_alike_;
  std::vector<std::vector<std::int64_t>> bytes_;  ///< indexed by device and operation
  DeviceBytes peaks_;
  std::map<LoadSequence, std::vector<Program::Load>> loads_;
};

/// Returns a lower bound of the seconds of the run that `order` describes, wherever its loads are listed. Returns 0 if
/// none is known, or if the step is too long.
double clock_at_least(const PolicyRequest& request, const TrainingOrder& order);

}  // namespace sluice
