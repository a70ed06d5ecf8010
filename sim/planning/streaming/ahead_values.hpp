// The values of `ahead` that streamed inference tries: how many bytes of weights may be loaded before the device needs
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "planning/streaming/groups.hpp"

namespace sluice {

/// Returns the values that are tried for a choice, in ascending order. They follow from the groups, never from the
/// capacity of a memory. There are fewer values if some weights stay, or if a try takes long, because it needs a replay
/// (`replayed`) or a step has many passes. No value is greater than `most`, the key `ahead` of the scenario. `most`
/// itself is tried.
std::vector<std::int64_t> ahead_values(const StreamedCase& streamed, const StreamedChoice& choice,
                                       bool replayed, std::optional<std::int64_t> most);

}  // namespace sluice
