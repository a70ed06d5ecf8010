// A short explanation of why a question is infeasible. It says what needs the memory, how much is needed and available,
// the largest batch that fits, and what to change.
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
  std::string culprit;   ///< the class of tensors that needs the most bytes; empty: not known
  std::string pool;      ///< the memory that is too small; empty: not known
  /// Samples of the largest batch that fits when nothing else changes; 0: not even one sample fits.
  /// None: it was not searched for, or not found within the work that an answer may take.
  std::optional<std::int64_t> largest_batch;
  std::vector<std::string> changes;  ///< each as a user would write it, with its reason
};

/// Plans smaller batches to find the largest that fits. Throws Interrupted.
Refusal refusal_of(const Scenario& scenario, const Infeasible& infeasible);

/// At most five lines.
std::string refusal_text(const Refusal& refusal, const Infeasible& infeasible);

}  // namespace sluice
