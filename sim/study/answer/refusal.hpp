// A short explanation of why a question is infeasible. The explanation says which tensors need the memory, and how many
// bytes are needed and available. The explanation also names the largest batch that fits. It lists changes of the
// scenario that help.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

struct Refusal {
  std::string headline;  ///< the first line of the message
  std::string culprit;   ///< the class of tensors that needs the most bytes; empty if not known
  std::string pool;      ///< the memory that is too small; empty if not known
  /// The number of samples of the largest batch that fits, if nothing else changes. If not even one sample fits, the
  /// number is 0. The value is nullopt without a search. It is also nullopt if the search reached its limit of work.
  std::optional<std::int64_t> largest_batch;
  /// Changes of the scenario as a user would write them, each with its reason.
  std::vector<std::string> changes;
};

/// Explains the refusal. Makes plans for smaller batches to find the largest batch that fits. Throws Interrupted.
Refusal refusal_of(const Scenario& scenario, const Infeasible& infeasible);

/// Returns the explanation as text of at most five lines.
std::string refusal_text(const Refusal& refusal, const Infeasible& infeasible);

}  // namespace sluice
