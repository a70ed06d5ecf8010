// Residency says which weights of streamed inference stay on the device while the others take turns.
// A choice is a number of bytes per group. It follows from the structure of the model and from the
// other choices, never from a capacity. So the choices of a smaller memory are among those of a
// larger one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/record.hpp"
#include "planning/streaming/groups.hpp"

namespace sluice {

/// What the scenario says about residency.
struct ResidentKey {
  /// Per group, whether its weights stay. If this is empty, the choice is open.
  std::optional<std::vector<bool>> stays;
};
/// Throws InputError at a stage that does not exist.
ResidentKey resident_key(const Reader& parameters, const std::vector<Stage>& stages, bool cut_open);

/// Returns for each group the bytes of the weights that stay according to the scenario. They are zero when the choice
/// is open.
std::vector<std::int64_t> asked_to_stay(const StreamedCase& streamed, const ResidentKey& key);

/// The order in which weights become resident if only some of them do.
enum class ResidentOrder : std::uint8_t {
  /// The weights of the groups that need the most memory while they run stay first. What stays of such a group
  /// costs nothing during its run, because it would be there anyway. No other choice of as many bytes needs less
  /// memory.
  by_need,
  /// The weights of the groups that compute least per byte stay first, because these groups leave the least time in
  /// which a load could be hidden.
  by_work,
};

/// Returns how many bytes of each group stay, together at most `bytes`. A part of a group's weights may stay.
std::vector<std::int64_t> resident_weights(const StreamedCase& streamed,
                                           const StreamedChoice& choice, ResidentOrder order,
                                           std::int64_t bytes);

/// Returns for each group the most bytes on the device while it runs with this many micro-batches, with one input and
/// one result in transfer. The group's own weights, and the weights that stay, are not counted.
std::vector<std::int64_t> bytes_beside_weights(const StreamedCase& streamed,
                                               const StreamedChoice& choice);

}  // namespace sluice
