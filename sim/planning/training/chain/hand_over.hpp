// Devices that take turns hand over results: an output goes from the device of the stage that makes it to the devices
// of the stages that read it. In the backward pass, its gradient comes back. Every schedule makes these copies, whatever
// the fates are, because each stage has its device (StepShape::devices).
#pragma once

#include "planning/training/training.hpp"

namespace sluice {

/// Sets ChainStage::hand_over in `all`, the chain of the micro-batches that run side by side. `chain` is the chain of
/// one micro-batch. Copies of its tensors take `copies` times as long in `all`. If the devices are not alike, `on_devices`
/// has the chain of one micro-batch with the prices of each device. An output that is handed over is saved in any case.
/// So if its fate is to be offloaded, this save costs nothing more, and its seconds in `all` become 0.
void hand_over(const Chain& chain, const std::vector<StageState>& states,
               const SideBySideShape& shape, double copies, const std::vector<Chain>& on_devices,
               Chain& all);

}  // namespace sluice
