// Chooses a placement for a run. A search finds a placement for each of several sizes of fast memory. The placement
// whose run takes the fewest simulated seconds is chosen. placed_program.hpp describes such a run.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "fates/strategy.hpp"
#include "planning/common_parameters.hpp"
#include "planning/draft.hpp"

namespace sluice {

/// The placement method in which fast memory is a hardware cache of slow memory. All tensors are in slow memory.
inline constexpr const char* hardware_cache = "cached";

/// Returns all placement methods with which a plan can be made.
const std::vector<std::string>& placements_of_plans();
/// Returns the placement methods that are compared for a scenario that does not name a method. These methods never move
/// a tensor: a search for moves takes many times as long as a search without moves. The method `cached` is not among
/// them, because a fast memory that is a hardware cache makes another machine than a fast memory for placed tensors.
const std::vector<std::string>& placements_compared();

/// Returns whether the placement method moves tensors during the run.
bool moves_tensors(const std::string& way);

struct PlacedRun {
  const PolicyRequest& request;
  const CommonParameters& common;
  const FateChoice& fates;  ///< see placed_fates()
  std::string policy, way;
  /// The run of the returned plan must take fewer seconds than `worth`.
  double worth = std::numeric_limits<double>::infinity();
};

/// A plan whose tensors are placed.
struct PlacedDraft {
  Draft draft;
  /// Adds the fact `placement_gap` to the finished plan. This takes about as long as a search for one placement, so
  /// only a plan that is chosen gets the fact. What the PlacedRun refers to must outlive the function.
  std::function<void(Plan& finished)> say_gap;
};

/// Returns the plan of a run with the fates of `run`. The run computes one micro-batch after the other. If every
/// placement takes `worth` seconds or more, the result is empty. The tensors in fast memory fit into it together with
/// one input in transfer and one answer in transfer. With the same `way` and the same fates, more fast memory never
/// makes the run slower. If `worth` is infinite, the result has a plan, even if no run fits into host memory. Then the
/// execution of the plan reports what does not fit. Throws InputError if there are fewer than two memories, or if the
/// cost model has no price. Throws Infeasible if slow memory has no room for any placement.
std::optional<PlacedDraft> placed_draft(const PlacedRun& run);

}  // namespace sluice
