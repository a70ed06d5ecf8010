// A sweep evaluates one scenario at many points. By default, the replay runs the points in a few threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "study/sweep/axis.hpp"
#include "study/sweep/evaluate.hpp"
#include "study/sweep/point_result.hpp"

namespace sluice {

class Store;

/// One of several equal parts of a sweep. `number` counts the parts from 1. `count` is the number of parts.
/// A point belongs to the part if its position divided by `count` has the remainder `number` - 1.
struct Shard {
  std::size_t number = 1, count = 1;
  bool has(std::size_t point) const { return point % count == number - 1; }
};
/// Parses "2/4". Throws UsageError.
Shard parse_shard(const std::string& text);

struct SweepRequest {
  const Variants& variants;
  const Points& points;
  std::size_t jobs = 1;  ///< how many points run at the same time; this number does not change the answer
  /// Runs each point in its own process. If this function is empty, the replay runs all points.
  Measure simgrid = {};
  /// The share of the points that SimGrid repeats, from 0 to 1. Each of these points has its own process. If the
  /// share is above 0, at least one point is repeated.
  double verify = 0;
  /// Runs a point with both executors, and throws when the results of the executors differ.
  Measure by_both_executors = {};
  Shard shard = {};
  Store* store = nullptr;     ///< the store in which outcomes are looked up and stored; may be null
  bool retry_failed = false;  ///< whether points that failed before are evaluated again
  /// This function is called in the thread of the caller, with the number of points that have an outcome.
  std::function<void(std::size_t done, std::size_t total)> progress = {};
};

struct SweepResult {
  /// The positions of the points in ascending order: all points, or the points of a shard.
  std::vector<std::size_t> points;
  std::vector<PointResult> outcomes;  ///< one outcome per element of `points`
  /// Number of points that this call executed and that have numbers.
  std::size_t ran = 0;
  std::size_t from_store = 0, verified = 0;
  std::size_t count(PointResult::Status status) const;
  /// If no point could be run, throws the error of the first point as an InputError. If the computer had too little
  /// memory, throws InternalError.
  void require_some_point() const;
};

/// Runs the sweep. If SimGrid and the replay give different results, throws InternalError. The message names the point.
/// Throws the IoErrors of the store. Throws Interrupted after all answers so far have been stored. Any other exception
/// becomes the outcome of its point.
SweepResult run_sweep(const SweepRequest& request);

/// Chooses the points that SimGrid repeats. Their number is the share `share` of the points that ran, rounded up to a
/// whole number. The points whose values have the smallest hashes are chosen. So the choice is spread like a random
/// choice. Equal sweeps choose equal points.
std::vector<std::size_t> points_to_verify(const Points& points,
                                          const std::vector<std::size_t>& complete, double share);

}  // namespace sluice
