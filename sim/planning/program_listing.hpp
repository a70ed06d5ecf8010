// From a program to a plan: tensors, loads in their places, actions in order, and what waits for
// what. The one lister of inference and training.
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
  std::string name;  ///< the policy's
  bool overlap = true;
  /// Bytes of each device that loads which come early stay within; none: all that there are.
  std::optional<std::int64_t> capacity = {};
  /// A load may also start an operation sooner than it is listed, where there is room.
  bool loads_within = false;
  std::vector<Fact> facts = {};
};

/// `most`: becomes the bytes of the first device with which everything would be listed alike.
Draft list_program(const ProgramListing& listing, std::int64_t* most = nullptr);

}  // namespace sluice
