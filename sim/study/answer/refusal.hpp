// Why a question is infeasible, short: the culprit, what is needed and what there is, the largest
// batch that fits, and what to change.
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
  std::string culprit;   ///< the class of tensors that needs most; empty: it is not known
  std::string pool;      ///< the memory that is too small; empty: it is not known
  /// Samples of the largest batch that fits, everything else as asked; 0: not one sample. None: it
  /// was not sought, or not found by as much work as an answer may take.
  std::optional<std::int64_t> largest_batch;
  std::vector<std::string> changes;  ///< as one would write them, each with why
};

/// Plans smaller batches to find the largest that fits. Throws Interrupted.
Refusal refusal_of(const Scenario& scenario, const Infeasible& infeasible);

/// At most five lines.
std::string refusal_text(const Refusal& refusal, const Infeasible& infeasible);

}  // namespace sluice
