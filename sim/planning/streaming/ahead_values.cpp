#include "planning/streaming/ahead_values.hpp"

#include <algorithm>

namespace sluice {

namespace {

/// `ahead` is tried in at most this number of equal steps, from 0 to the bytes of all weights that take turns.
constexpr std::int64_t most_steps = 32;
constexpr std::int64_t few_steps = 8;  ///< if a step of the workload has `many_passes` or more
constexpr std::int64_t many_passes = 8;
constexpr std::int64_t steps_of_replays = 4;      ///< if a try needs a replay of the plan
constexpr std::int64_t steps_beside_weights = 2;  ///< if some weights stay on the device

std::int64_t steps_of(const StreamedCase& streamed, const StreamedChoice& choice, bool replayed) {
  if (choice.resident_bytes() > 0) return steps_beside_weights;
  if (replayed) return steps_of_replays;
  return passes_per_step(streamed.micro_batches, choice.in_flight) < many_passes ? most_steps
                                                                                 : few_steps;
}

/// Returns the most bytes of one group's weights that take turns.
std::int64_t largest_turn(const StreamedCase& streamed, const StreamedChoice& choice) {
  std::int64_t largest = 0;
  for (std::size_t g = 0; g < streamed.groups.size(); ++g)
    largest = std::max(largest, streamed.groups[g].bytes.weights - choice.resident_of(g));
  return largest;
}

}  // namespace

std::vector<std::int64_t> ahead_values(const StreamedCase& streamed, const StreamedChoice& choice,
                                       bool replayed, std::optional<std::int64_t> most) {
  if (!streamed.overlap || streamed.groups.size() == 1) return {0};
  const std::int64_t all = streamed.weights() - choice.resident_bytes();
  const std::int64_t steps = steps_of(streamed, choice, replayed);
  std::vector<std::int64_t> bytes;
  // With many groups, one of the equal steps may be more than the device has room for. A group may still fit.
  const std::int64_t group = largest_turn(streamed, choice);
  if (group < all / steps) bytes = {group / 2, group};
  // There are few steps if a try needs a replay. Bytes for a few groups are then tried, too.
  if (replayed)
    for (const std::int64_t groups : {1, 2, 4})
      if (group <= all / groups) bytes.push_back(groups * group);
  for (std::int64_t i = 0; i <= steps; ++i)
    bytes.push_back(static_cast<std::int64_t>(static_cast<double>(all) * static_cast<double>(i) /
                                              static_cast<double>(steps)));
  if (most) {
    std::erase_if(bytes, [&](std::int64_t some) { return some >= *most; });
    bytes.push_back(std::min(*most, all));
  }
  std::sort(bytes.begin(), bytes.end());
  bytes.erase(std::unique(bytes.begin(), bytes.end()), bytes.end());
  return bytes;
}

}  // namespace sluice
