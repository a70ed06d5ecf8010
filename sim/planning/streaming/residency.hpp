// Residency says which weights of streamed inference stay on the device while the other weights take turns. A choice of
// residency is a number of bytes per group. It depends on the structure of the model and on the other choices, but
// never on a capacity. So all choices for a smaller memory are also choices for a larger memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/record.hpp"
#include "planning/streaming/groups.hpp"

namespace sluice {

/// The choice of residency in the scenario.
struct ResidentKey {
  /// Whether the weights of each group stay. If it is empty, the choice is open.
  std::optional<std::vector<bool>> stays;
};
/// Throws InputError at a stage that does not exist.
ResidentKey resident_key(const Reader& parameters, const std::vector<Stage>& stages, bool cut_open);

/// Returns for each group the bytes of the weights that stay according to the scenario. They are 0 if the choice is
/// open.
std::vector<std::int64_t> asked_to_stay(const StreamedCase& streamed, const ResidentKey& key);

/// The order in which weights are chosen to stay if not all weights stay.
enum class ResidentOrder : std::uint8_t {
  /// Weights of the groups that need the most memory while they run are chosen first. During the run of such a group,
  /// its weights that stay need no additional memory, because they would be on the device anyway. No other choice of
  /// the same number of bytes needs less memory.
  by_need,
  /// Weights of the groups that compute for the fewest seconds per byte are chosen first, because the loads of these
  /// weights are the hardest to hide behind computation.
  by_work,
};

/// Returns the bytes of each group that stay, which are at most `bytes` bytes together. They may be only a part of a
/// group's weights.
std::vector<std::int64_t> resident_weights(const StreamedCase& streamed,
                                           const StreamedChoice& choice, ResidentOrder order,
                                           std::int64_t bytes);

/// Returns for each group the most bytes on the device while it runs with this many micro-batches, with one input and
/// one result in transfer. The group's own weights, and the weights that stay, are not counted.
std::vector<std::int64_t> bytes_beside_weights(const StreamedCase& streamed,
                                               const StreamedChoice& choice);

}  // namespace sluice
