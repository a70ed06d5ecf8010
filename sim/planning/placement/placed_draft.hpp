// Chooses a placement for a run. For each of several sizes of fast memory, a placement is searched. The placement whose
// run has the fewest simulated seconds is chosen. placed_listing.hpp describes this run.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fates/strategy.hpp"
#include "planning/draft.hpp"
#include "planning/parts.hpp"

namespace sluice {

/// The placement method in which fast memory is a hardware cache of slow memory. All tensors are in slow memory.
inline constexpr const char* hardware_cache = "cached";

/// Returns the placement methods that a plan can have.
const std::vector<std::string>& placements_of_plans();
/// Returns the placement methods that are compared if the scenario does not name a method. These methods never move a
/// tensor, because a search for moves takes many times as long as a search without moves. A hardware cache is not
/// compared, because a machine has either a hardware cache or two memories that programs can use.
const std::vector<std::string>& placements_compared();

struct PlacedRun {
  const PolicyRequest& request;
  const CommonParameters& common;
  const FateChoice& fates;  ///< see placed_fates()
  std::string policy, way;
  /// The result must take fewer seconds than `worth`.
  double worth = std::numeric_limits<double>::infinity();
};

/// Returns the plan of a run that computes one micro-batch after the other, with the fates of `run`. The result is
/// empty if no placement was found with a run of less than `worth` seconds. The run always fits into fast memory, also
/// while an input and an answer are in transfer in addition to the placed tensors. More fast memory never makes the
/// simulated run slower, if `way` and the fates do not change. If no run fits into host memory and `worth` is infinite,
/// the result is a plan whose execution says what does not fit. Throws InputError if there are no two memories or the
/// cost model has no price. Throws Infeasible if slow memory cannot hold all tensors.
std::optional<Draft> placed_draft(const PlacedRun& run);

}  // namespace sluice
