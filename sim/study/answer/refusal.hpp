// A short explanation of why a question is infeasible. The explanation says which tensors need the memory, and how many
// bytes are needed and available. It also names the largest batch that fits, and lists changes of the scenario after
// which it might fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "scenario/scenario.hpp"

namespace sluice {

struct Refusal {
  std::string headline;                ///< the first line of the message
  std::optional<TensorClass> culprit;  ///< the class of tensors that needs the most bytes
  std::string pool;                    ///< the memory that is too small; empty if not known
  std::int64_t batch_unit = 1;         ///< only batches of a multiple of so many samples are tried
  /// The number of samples of the largest batch that fits if nothing else is changed. If no smaller batch
  /// fits, the number is 0. If no search was made, or the search reached its limit of work, the value is nullopt.
  std::optional<std::int64_t> largest_batch;
  /// The bytes of this memory that the platform reserves.
  std::int64_t reserved_bytes = 0;
  /// A capacity with which the memory that is too small is large enough. Empty if none was found.
  std::optional<std::int64_t> enough_bytes;
  /// The equally large memories of other devices that need this capacity, too.
  std::vector<std::string> enough_also = {};
  /// Changes of the scenario that help, as a user would write them. Most have a reason in brackets.
  std::vector<std::string> changes;
};

/// Explains the refusal. Makes plans to find the largest batch that fits, and a memory that is large enough.
/// Throws Interrupted.
Refusal refusal_of(const Scenario& scenario, const Infeasible& infeasible);

/// Returns the explanation as text of at most five lines.
std::string refusal_text(const Refusal& refusal, const Infeasible& infeasible);

}  // namespace sluice
