// Simulates plans: the judge compares candidates by the seconds of their plans.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plan/plan.hpp"

namespace sluice {

/// Limits the plan to `bytes` bytes in each memory that belongs to this device alone.
void stay_within(Plan& plan, const std::string& device, std::int64_t bytes);

/// Returns the simulated seconds of a plan's run, or infinity if the run ends in a deadlock. Throws Interrupted if a
/// signal asks the program to stop.
double run_seconds(const Plan& plan);

/// A plan, and its run_seconds() if they are known.
struct TimedPlan {
  Plan plan;
  std::optional<double> known_s = {};
  double seconds() const { return known_s ? *known_s : run_seconds(plan); }
};

/// `plan` must not enforce any capacity. Returns the simulated seconds of its run, or infinity if a memory that no
/// device owns, such as host memory, is too small for the run. The memories of devices count as unlimited.
double run_seconds_in_host(const Plan& plan);

/// Returns whether an action may have to wait for bytes of a memory that no device owns, such as host memory. This is
/// so if the tensors of two rounds do not fit into this memory together. Such a run may be slower if an action need not
/// wait for the memory of a device any more: the action may then take bytes for which a more urgent action waits.
bool host_may_be_full(const Plan& plan);

/// Makes the plan enforce the capacities of the memories that no device owns, such as host memory.
void enforce_host(Plan& plan);

}  // namespace sluice
