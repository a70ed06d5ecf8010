// Draws how the loads of a training step are listed.
#pragma once

#include <cstdint>

#include "planning/training/training.hpp"
#include "support/random_chain.hpp"

namespace sluice::test {

/// Returns random limits for the early loads of a step with this peak, in a random sequence. If the whole run may use
/// all bytes, some limits leave no room for early loads: then all loads are listed where they are needed.
inline ChosenStep::EarlyLoadLimits random_limits(Dice& dice, std::int64_t peak) {
  ChosenStep::EarlyLoadLimits limits{peak + peak * static_cast<int>(dice.below(9)) / 4};
  if (dice.one_in(2)) {
    const double loads = 0.5 * static_cast<double>(1 + dice.below(8));
    limits.sequence.pace = Pace{loads, 0.25 * static_cast<double>(dice.below(3))};
  }
  limits.sequence.order = load_orders[dice.below(load_orders.size())];
  if (dice.one_in(2)) limits.run_room = no_limit;
  if (limits.run_room && dice.one_in(3)) limits.room = 0;
  return limits;
}

}  // namespace sluice::test
