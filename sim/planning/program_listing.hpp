// Turns a program (program.hpp) into a plan: makes the tensors, lists the actions with the loads in their places, and
// adds the waits. Programs of inference and of training become plans in this way.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planning/device_bytes.hpp"
#include "planning/draft.hpp"
#include "planning/program.hpp"
#include "planning/slots/step_slots.hpp"

namespace sluice {

struct ProgramListing {
  const PolicyRequest& request;
  const Program& program;
  std::string name;  ///< the name of the policy
  bool overlap = true;
  /// Early loads may fill each device up to its number of bytes. Without numbers, they may fill the whole memory.
  std::optional<DeviceBytes> capacity = {};
  /// Whether a load may start one operation earlier than its place in the list says, if memory has room.
  bool loads_within = false;
  std::vector<Fact> facts = {};
  /// Whether another fact says how many loads are listed before an earlier operation than the one that needs them.
  bool states_early_loads = false;
  /// Whether tensors and actions get names. A plan that is only simulated needs none.
  bool named = true;
  /// If given: sets the price of an operation that is not a transfer. `tensors` has the plan's tensor of each instance.
  std::function<void(PlanBuilder& builder, PlanBuilder::Ref action, std::int64_t operation,
                     const std::vector<std::uint32_t>& tensors)>
      price = {};
};

/// Returns the plan. Sets `*most` to the bytes that the first device needs. With less memory, at least one load would
/// be listed later than in this plan.
Draft list_program(const ProgramListing& listing, std::int64_t* most = nullptr);

}  // namespace sluice
