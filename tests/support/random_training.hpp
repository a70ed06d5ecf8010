// Random training runs on one or several devices. The models are chains of convolutional or dense layers. Links have
// latencies and set-ups. The numbers of micro-batches and steps vary. A seed gives the same runs on every machine.
#pragma once

#include <string>

#include "planning/training/staying.hpp"
#include "scenario/scenario.hpp"
#include "support/random_chain.hpp"

namespace sluice {
struct TrainingOrder;
}

namespace sluice::test {

/// Returns the document of a random scenario for a device with unlimited memory. The document has no key `fates`.
std::string random_training(Dice& dice);

/// Returns the document of a random scenario without the key `fates`. `policy` is one of the policies under which
/// weights take turns: `streamed` or `phased`. The stages run on this many devices: gpu0, gpu1, and so on.
std::string random_training(Dice& dice, const std::string& policy, std::size_t devices);

/// Returns random tensors of a stage that stay on the device.
StayingTensors random_staying(Dice& dice);

/// The request of a random scenario without limits of memory. Its strategy for fates treats all stages alike, and is
/// drawn, too.
struct DrawnTraining {
  DrawnTraining(const std::string& text, Dice& dice);
  DrawnTraining(const DrawnTraining&) = delete;  // `request` refers to the other members

  /// Lets the stages take turns on all devices of the platform. In half of the cases, random tensors stay.
  void add_devices(TrainingOrder& order, Dice& dice) const;

  Scenario scenario;
  CutModel cut;
  PolicyRequest request;
};

}  // namespace sluice::test
