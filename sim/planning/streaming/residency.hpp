// Residency says which weights of streamed inference stay on the device while the other weights take turns. A choice of
// residency is a number of bytes per group. The choice depends on the structure of the model and on the other choices,
// but never on a capacity. So all choices for a smaller memory are also choices for a larger memory.
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
  /// Whether the weights of each group stay. If `stays` is empty, the choice is open.
  std::optional<std::vector<bool>> stays;
};
/// Returns the scenario's choice. Throws InputError at a stage that does not exist.
ResidentKey resident_key(const Reader& parameters, const std::vector<Stage>& stages, bool cut_open);

/// Returns for each group the bytes of the weights that stay according to the scenario. These bytes are 0 if the choice
/// is open.
std::vector<std::int64_t> asked_to_stay(const StreamedCase& streamed, const ResidentKey& key);

/// The order in which weights are chosen to stay if not all weights stay.
enum class ResidentOrder : std::uint8_t {
  /// Weights of the groups that need the most memory while they run are chosen first. While a group
  /// runs, all its weights are on the device anyway. So its weights that stay need no additional
  /// memory then. If equally many bytes stay, no other choice needs less memory.
  by_need,
  /// Weights of the groups that compute for the fewest seconds per byte of weights are chosen
  /// first, because their loads are the hardest to hide behind computation.
  by_work,
};

/// Returns for each group how many bytes of its weights stay. The sum of these numbers is at most
/// `bytes`. It is possible that only a part of a group's weights stays.
std::vector<std::int64_t> resident_weights(const StreamedCase& streamed,
                                           const StreamedChoice& choice, ResidentOrder order,
                                           std::int64_t bytes);

/// Returns for each group the most bytes on the device while the group runs, without its own weights
/// and without the weights that stay. The result counts one input and one result in transfer.
std::vector<std::int64_t> bytes_beside_weights(const StreamedCase& streamed,
                                               const StreamedChoice& choice);

}  // namespace sluice
