// Random training runs on one device, the same for the same seed on every machine: chains of layers
// of every kind, links with latencies and set-ups, few or many micro-batches, steps and updates.
#pragma once

#include <string>

#include "support/random_chain.hpp"

namespace sluice::test {

/// A scenario's document without `fates`, whose device has no limit of memory.
std::string random_training(Dice& dice);

}  // namespace sluice::test
