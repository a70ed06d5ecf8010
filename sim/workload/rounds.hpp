// Divides the micro-batches of a step: into rounds, after which a plan repeats, and into passes over the model.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice {

struct Workload;

/// A scenario may leave open how many micro-batches are in flight. Returns the numbers that are tried then. Each number
/// leads to a number of passes over the model. If several numbers lead to equally many passes, only the least of them
/// is returned. The first number leads to one pass, and the last number to one pass per micro-batch. From one number to
/// the next, the number of passes grows by a factor of about 1 + 1 / `growth`.
std::vector<std::int64_t> in_flight_choices(std::int64_t micro_batches, std::int64_t growth);

/// A round: the smallest number of micro-batches after which the actions of the plan repeat. The body of the plan is
/// one round, and a step consists of whole rounds.
struct Round {
  std::int64_t micro_batches = 1;
  std::int64_t per_step = 1;  ///< rounds per step
};
/// Returns the shortest round that has at least `at_least` micro-batches and divides a step. If there is no such round,
/// the round is the whole step.
Round round_of(const Workload& workload, std::int64_t at_least = 1);
/// The largest number of micro-batches in a round. Policies do not try candidates whose shortest round is longer.
inline constexpr std::int64_t longest_round = 4096;
/// In a longer step, passes of more than `longest_round` micro-batches are not tried: their plans would be too long.
inline constexpr std::int64_t longest_step_with_long_passes = 32 * longest_round;

}  // namespace sluice
