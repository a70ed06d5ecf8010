// Random training runs on one or two devices. The models are chains of convolutional or dense layers. Links have
// latencies and set-ups. The numbers of micro-batches and steps vary. A seed gives the same runs on every machine.
#pragma once

#include <string>

#include "support/random_chain.hpp"

namespace sluice::test {

/// Returns a scenario's document without `fates`, for a device with unlimited memory.
std::string random_training(Dice& dice);

/// Returns a scenario's document without `fates`, for `policy`: streamed or phased, in which weights take turns. The
/// stages run on gpu0 and, if there are two devices, on gpu1.
std::string random_training(Dice& dice, const std::string& policy, std::size_t devices);

}  // namespace sluice::test
