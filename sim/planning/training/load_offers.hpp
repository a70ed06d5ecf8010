// Decides where the loads of a training step are listed within given limits, and computes a lower
// bound of the seconds of the run. Only ChosenStep uses this class.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "planning/training/step_clock.hpp"
#include "planning/training/training.hpp"

namespace sluice {

class LoadOffers {
 public:
  /// `request`, the objects to which it refers, and `order` must outlive this object.
  LoadOffers(Program step, const PolicyRequest& request, const TrainingOrder& order);
  LoadOffers(const LoadOffers&) = delete;
  LoadOffers& operator=(const LoadOffers&) = delete;

  ChosenStep::Offer offer(const ChosenStep::EarlyLoadLimits& limits);
  double at_least(const ChosenStep::EarlyLoadLimits& limits, const ChosenStep::Offer& offer);
  const Program& step() const { return step_; }
  std::size_t devices() const { return bytes_.size(); }

 private:
  const std::vector<Program::Load>& loads(std::optional<double> pace);

  const TrainingOrder& order_;
  const Platform& platform_;
  Program step_;
  StepClock clock_;
  /// Whether all devices are alike, so that an operation takes equally long on each of them.
  bool priced_alike_;
  std::vector<std::vector<std::int64_t>> bytes_;  ///< indexed by device and operation
  std::map<std::optional<double>, std::vector<Program::Load>> loads_;  ///< indexed by pace
};

}  // namespace sluice
