// The methods that place tensors in the two memories. The simplest methods put all tensors into the same memory. The
// method with the most freedom moves tensors while kernels run. Each method except `cached` makes a plan, and the plan
// is simulated. To add a method, add a function and a line in ways.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "placement/cached.hpp"
#include "placement/optimum.hpp"

namespace sluice {

/// The result of one method, for one capacity of fast memory.
struct PlacementResult {
  std::string way;
  std::int64_t capacity = 0;
  std::string refused;  ///< why the method cannot place the tensors; otherwise empty
  double predicted_s = 0;
  /// The seconds of the simulated plan. `cached` has no plan, so there `simulated_s` is 0.
  double simulated_s = 0;
  /// A lower bound of the seconds of all placements that this method allows. For a method that does not search, it is a
  /// bound of all placements without moves and, for `cached`, of a hardware cache with room for everything.
  std::optional<double> bound_s;
  std::optional<PlacementSchedule> schedule;
  std::optional<CachedRun> cached;
  double oracle_s = 0;  ///< the seconds of wall-clock time that the search took

  double seconds() const { return schedule ? simulated_s : predicted_s; }
  /// Returns the gap between the seconds and the bound, as base/gap.hpp defines it. Returns nothing if there is no
  /// bound.
  std::optional<double> gap() const;
  struct MoveTotals {
    /// The number of moves in each direction. `beside` says how many of all these moves the copy engine makes, in both
    /// directions together.
    std::size_t to_fast = 0, to_slow = 0, beside = 0;
    std::int64_t to_fast_bytes = 0, to_slow_bytes = 0, beside_bytes = 0;
  };
  MoveTotals move_totals(const PlacementQuestion& question) const;
};

struct WayRequest {
  const PlacementQuestion& question;
  std::int64_t capacity = 0;
  int nodes = 1000;  ///< the most nodes of branch and bound
  /// The results that are known already: for less memory, or from methods with less freedom.
  std::vector<const PlacementResult*> lesser = {};
};

/// Returns the placement of `first_touch`: a tensor is in fast memory for its whole life if there is room for it when
/// it is made.
Placing first_touch(const PlacementQuestion& question, std::int64_t capacity);

struct PlacementWay {
  std::string name;
  std::string summary;
  /// Places the tensors. Throws Infeasible or InputError.
  PlacementResult (*place)(const WayRequest& request) = nullptr;
  /// Whether the method searches. If so, its result never takes longer than its own result with less memory, or than
  /// the results of the methods before it in placement_ways(), except the result of `cached`.
  bool searched = false;
};

/// The methods, in the order of their freedom: the last method has the most freedom to move tensors.
const std::vector<PlacementWay>& placement_ways();

/// A function that is told the progress: the number of finished results, and the number of all results. If it throws an
/// exception, no more results are made.
using PlacementProgress = std::function<void(std::size_t done, std::size_t total)>;

/// Places the tensors with each method in `ways`, for each capacity. If `ways` is empty, all methods are used. The
/// results for one capacity are next to each other, in the order of the methods. A method that searches also tries the
/// placements that were found with less memory, or by methods with less freedom. So its result never takes longer than
/// the results with these placements.
std::vector<PlacementResult> place_by_all(const PlacementQuestion& question,
                                          std::vector<std::int64_t> capacities,
                                          const std::vector<std::string>& ways, int nodes,
                                          const PlacementProgress& progress = {});

/// How many seconds one tensor saves by being in fast memory, in a placement without moves.
struct TensorWorth {
  std::uint32_t tensor = none;
  bool fast = false;
  /// If `fast`: the seconds that the run would take longer with the tensor in slow memory. Otherwise: the seconds that
  /// the run would save with the tensor in fast memory.
  double seconds = 0;
};
/// Returns the worth of each tensor. The tensor with the greatest worth comes first.
std::vector<TensorWorth> worth_of(const PlacementQuestion& question, const Placing& placing);

}  // namespace sluice
