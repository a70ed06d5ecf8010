// Random training runs on one device, the same for the same seed on every machine: chains of layers
// of every kind, links with latencies and set-ups, few or many micro-batches, steps and updates.
#pragma once

#include <string>

#include "support/random_chain.hpp"

namespace sluice::test {

/// A scenario's document without `fates`, whose device has no limit of memory.
std::string random_training(Dice& dice);

/// The same under a policy with whose stages devices take turns, gpu0 and, where there are two,
/// gpu1.
std::string random_training(Dice& dice, const std::string& policy, std::size_t devices);

}  // namespace sluice::test
