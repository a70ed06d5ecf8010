// In streamed inference, some weights may stay on the device. The other weights take turns. Residency says how many
// bytes of each group's weights stay. The numbers depend on the structure of the model and on the other choices. They
// never depend on a capacity. So all choices for a smaller memory are also choices for a larger memory.
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

/// If only some weights stay, this order says which weights are chosen first.
enum class ResidentOrder : std::uint8_t {
  /// The groups that need the most memory come first. While a group runs, all its weights are on the device anyway. So
  /// weights of this group that stay need no additional memory then. Among all choices of equally many bytes, this
  /// choice needs the least memory.
  by_need,
  /// The groups with the fewest seconds of computation per byte of weights come first. Their loads are the hardest to
  /// hide behind computation.
  by_work,
};

/// Returns for each group how many bytes of its weights stay. The sum of these numbers is at most
/// `bytes`. It is possible that only a part of a group's weights stays.
std::vector<std::int64_t> resident_weights(const StreamedCase& streamed,
                                           const StreamedChoice& choice, ResidentOrder order,
                                           std::int64_t bytes);

/// Returns for each group the most bytes on the device during a run of the group. Its own weights and the weights that
/// stay do not count. One input and one result in transfer count.
std::vector<std::int64_t> bytes_beside_weights(const StreamedCase& streamed,
                                               const StreamedChoice& choice);

}  // namespace sluice
