// The ways to place tensors, from everything in one memory to moves beside the kernels. Each is
// judged by executing it. A new way is a function and a line in ways.cpp.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "placement/cached.hpp"
#include "placement/optimum.hpp"

namespace sluice {

/// The result of a way at a capacity of fast memory.
struct PlacementResult {
  std::string way;
  std::int64_t capacity = 0;
  std::string refused;  ///< the reason why it is not possible; empty: it is possible
  double predicted_s = 0;
  double simulated_s = 0;  ///< of its plan with two pools; the cache has no plan, and so no such
                           ///< number
  std::optional<double> bound_s;  ///< no placement of this freedom takes less
  std::optional<PlacementSchedule> schedule;
  std::optional<CachedRun> cached;
  double oracle_s = 0;  ///< that finding it took

  double seconds() const { return schedule ? simulated_s : predicted_s; }
  /// How far the seconds are from the bound, as a part of the bound. None: nothing was searched
  /// for, or the bound is 0.
  std::optional<double> gap() const;
  struct Moved {
    std::size_t to_fast = 0, to_slow = 0, beside = 0;  ///< moves; of these on the copy engine
    std::int64_t to_fast_bytes = 0, to_slow_bytes = 0, beside_bytes = 0;
  };
  Moved moved(const PlacementQuestion& question) const;
};

struct WayRequest {
  const PlacementQuestion& question;
  std::int64_t capacity = 0;
  int nodes = 1000;                                 ///< of branch and bound, at most
  std::vector<const PlacementResult*> lesser = {};  ///< of less memory or less freedom
};

struct PlacementWay {
  std::string name;
  std::string summary;
  /// Throws Infeasible, InputError.
  PlacementResult (*place)(const WayRequest& request) = nullptr;
  bool searched = false;  ///< its placement is never slower than those of less memory or freedom
};

/// In the order of their freedom.
const std::vector<PlacementWay>& placement_ways();

/// Is told how many of how many results are there. What it throws ends the search.
using PlacementTold = std::function<void(std::size_t done, std::size_t total)>;

/// Each way that is named (none: all) at each capacity, the results of a capacity together, in the
/// order of the ways. What was found with less memory or less freedom is among the candidates for
/// more: so it is never slower.
std::vector<PlacementResult> place_by_all(const PlacementQuestion& question,
                                          std::vector<std::int64_t> capacities,
                                          const std::vector<std::string>& ways, int nodes,
                                          const PlacementTold& told = {});

/// A tensor, and what its place is worth in a placement in which nothing moves.
struct TensorWorth {
  std::uint32_t tensor = none;
  bool fast = false;
  double seconds = 0;  ///< lost if it were in slow memory; of a slow one: won if it were in fast
};
/// The greatest first.
std::vector<TensorWorth> worth_of(const PlacementQuestion& question, const Placing& placing);

}  // namespace sluice
