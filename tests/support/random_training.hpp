// Random training runs on one device, the same for the same seed on every machine: chains of layers
// of every kind, links with latencies and set-ups, few or many micro-batches, steps and updates.
#pragma once

#include <string>

#include "support/random_chain.hpp"

namespace sluice::test {

/// Returns a scenario's document without `fates`, whose device has unlimited memory.
std::string random_training(Dice& dice);

/// Returns such a document with a policy whose stages take turns on gpu0 and, if there are two devices, on gpu1.
std::string random_training(Dice& dice, const std::string& policy, std::size_t devices);

}  // namespace sluice::test
