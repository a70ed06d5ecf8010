// Turns a program into a plan: tensors, loads in their places, actions in order, and their waits.
// Inference and training share this code.
#pragma once

#include <optional>
#include <string>

#include "planning/draft.hpp"
#include "planning/program.hpp"
#include "planning/slots.hpp"

namespace sluice {

struct ProgramListing {
  const PolicyRequest& request;
  const Program& program;
  std::string name;  ///< the name of the policy
  bool overlap = true;
  /// The bytes of each device that early loads may fill. Without a number, early loads may fill the whole memory.
  std::optional<std::int64_t> capacity = {};
  /// Whether a load may start one operation earlier than its place in the list, if memory allows.
  bool loads_within = false;
  std::vector<Fact> facts = {};
};

/// Returns the plan. Sets `most` to the bytes that the first device needs for this listing. With fewer bytes, at least
/// one load would be listed later.
Draft list_program(const ProgramListing& listing, std::int64_t* most = nullptr);

}  // namespace sluice
