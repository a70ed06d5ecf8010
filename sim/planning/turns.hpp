// Makes transfers that share a link run one after the other (plan/passes/turns.hpp), in an order that a simulation
// finds.
#pragma once

#include <optional>
#include <vector>

#include "planning/run_seconds.hpp"

namespace sluice {

/// What is known about the transfers of a plan.
struct Turns {
  /// The fastest plan in which transfers take turns, with its seconds. Empty if no link is shared, or if the given plan
  /// or all orders end in a deadlock.
  std::optional<TimedPlan> fastest = {};
  /// The simulated seconds of the given plan, in which transfers use a link at the same time, if they are known.
  std::optional<double> together_s = {};
};

/// Tries up to seven orders in which transfers take turns. The first comes from a simulation of `plan`, in which
/// transfers of several replicas slow each other down, and often begin and end at the same times:
/// - Transfers of one stream that begin about together come in a row, because each change to another stream costs a
///   latency.
/// Two orders come from simulations in which transfers take turns:
/// - The transfer that is ready first in the run with the first order comes first. A transfer is ready when it waits
///   only for its turn. If the first order ends in a deadlock, the run of `plan` takes its place.
/// - The transfer whose data is needed first in the run with the second order comes first.
/// Two more orders come from the simulation of `plan`:
/// - The transfer that begins first, in an iteration in the middle of the run, comes first.
/// - The transfer whose data is needed first comes first.
/// If replicas have different numbers of batches, the replica with fewer batches may be many iterations ahead in the
/// middle of the run. Then an order of that iteration may delay the others. So there are two more orders:
/// - The transfer comes first whose first execution begins first in the simulation of `plan`.
/// - The transfer whose data is needed first in the run with this order comes first.
/// Throws Interrupted.
Turns in_turn(const Plan& plan);

/// Returns a plan for each of the orders that in_turn() tries, also for those that end in a deadlock. Throws
/// Interrupted.
std::vector<Plan> orders_in_turn(const Plan& plan);

}  // namespace sluice
