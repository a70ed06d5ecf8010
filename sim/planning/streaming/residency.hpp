// In streamed inference, some weights may stay on the device, while the other weights take turns. Residency says how
// many bytes of each group's weights stay. These numbers follow from the model and from the other choices, never from
// the capacity of a memory. So every choice for a smaller memory is also a choice for a larger memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/record.hpp"
#include "planning/streaming/groups.hpp"

namespace sluice {

/// The key `resident` of a scenario.
struct ResidentKey {
  /// Indexed by group: whether all weights of the group stay. Empty if the scenario leaves this choice open.
  std::optional<std::vector<bool>> stays;
};
/// Reads the key `resident`, or another key that names stages in the same way. Throws InputError if the key names a
/// stage that does not exist, or if it names stages although the cut is open.
ResidentKey resident_key(const Reader& parameters, const std::vector<Stage>& stages, bool cut_open,
                         const std::string& name = "resident");

/// Returns for each group how many bytes of its weights stay according to the scenario: 0 for all groups if the choice
/// is open.
std::vector<std::int64_t> asked_to_stay(const StreamedCase& streamed, const ResidentKey& key);

/// The order in which weights are chosen to stay, if not all can stay.
enum class ResidentOrder : std::uint8_t {
  /// The groups that need the most memory come first. While such a group runs, its own weights are on the device
  /// anyway, so it needs no additional memory if they stay. Of all ways to choose equally many bytes, this way needs
  /// the least memory.
  by_need,
  /// The groups with the fewest seconds of computation per byte of weights come first, because computation hides the
  /// smallest part of their loads.
  by_work,
};

/// Returns for each group how many bytes of its weights stay if at most `bytes` bytes may stay in total. Perhaps only a
/// part of a group's weights stays.
std::vector<std::int64_t> resident_weights(const StreamedCase& streamed,
                                           const StreamedChoice& choice, ResidentOrder order,
                                           std::int64_t bytes);

/// Returns the sets of boundaries that stay on the device while all others go through host memory
/// (StreamedChoice::boundaries_stay). The first set is empty. In each other set, the smallest boundaries stay: those with
/// at most 1/2, 1/4 or 1/8 of the bytes of the largest. A boundary that a shortcut crosses (Group::hands_over) never
/// stays, because a later group loads the shortcut from host memory. The sets do not depend on the capacity of the
/// memory. `streamed` must be the case with offloading.
std::vector<std::vector<bool>> boundaries_that_stay(const StreamedCase& streamed);

/// Returns for each group the most bytes that are on the device during a run of the group. The bytes of weights
/// are not counted, neither for this group nor for other groups. The inputs and results of the group are included. If
/// the group loads its inputs, only one input counts. If the group saves its results, only one result counts. Inputs
/// and results that stay on the device between groups all count if they exist at the same moment.
std::vector<std::int64_t> bytes_beside_weights(const StreamedCase& streamed,
                                               const StreamedChoice& choice);
/// Returns the fewest bytes into which each group fits together with the weights that stay.
std::int64_t least_room(const StreamedCase& streamed, const StreamedChoice& choice);

}  // namespace sluice
