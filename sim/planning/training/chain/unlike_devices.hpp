// The chain of a run on devices that take turns. The devices need not be alike.
#pragma once

#include <vector>

#include "planning/training/training.hpp"

namespace sluice {

/// The chain of one micro-batch, and the states of its stages. If the devices are not alike, `on_devices` has the chain
/// with the prices of each device. Otherwise it is empty.
struct ChainOnDevices {
  Chain chain;
  std::vector<StageState> states;
  std::vector<Chain> on_devices = {};
};

/// Returns a chain in which each stage has the prices of its device. The copies of its inner tensors, weights,
/// gradients and optimizer state take as long as on this device. So do the saves of its output. Several devices may
/// load an output or the input. This load has the seconds of the one of them that is the fastest. So no pass and no
/// copy of a run takes fewer seconds than in the chain.
ChainOnDevices chain_on_devices(const PolicyRequest& request, const TrainingOrder& order,
                                const PassOptions& passes);

}  // namespace sluice
