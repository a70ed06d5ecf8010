// A sweep evaluates one scenario at many points. By default, the points are run by the replay, several at the same
// time, in threads of this process.
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

/// One of `count` equal parts of a sweep. `number` is the number of this part, from 1. A point belongs to this part if
/// its position divided by `count` has the remainder `number` - 1.
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
  /// If this function is set, it runs each point with SimGrid, in a process of its own. If it is empty, the replay runs
  /// all points.
  Measure simgrid = {};
  /// The share of the points that SimGrid repeats, from 0 to 1. Each repeated point has a process of its own. If the
  /// share is above 0, at least one point is repeated.
  double verify = 0;
  /// Runs a point with both executors, SimGrid and the replay. Throws an error if their results differ.
  Measure by_both_executors = {};
  Shard shard = {};
  Store* store = nullptr;     ///< the store in which outcomes are looked up and stored; may be null
  bool retry_failed = false;  ///< whether points that failed before are evaluated again
  /// This function is called in the thread of the caller. `done` is the number of points that already have an outcome.
  std::function<void(std::size_t done, std::size_t total)> progress = {};
};

struct SweepResult {
  /// The positions of the points that this sweep evaluates, in ascending order: all points, or the points of a shard.
  std::vector<std::size_t> points;
  std::vector<PointResult> outcomes;  ///< one outcome per element of `points`
  /// The number of points that were run now, instead of being read from the store, and that have numbers.
  std::size_t ran = 0;
  std::size_t from_store = 0, verified = 0;
  std::size_t count(PointResult::Status status) const;
  /// If no point could be run, throws the error of the first point: an InternalError if the computer had too little
  /// memory, and an InputError otherwise.
  void require_some_point() const;
};

/// Runs the sweep. If SimGrid and the replay give different results for a point, throws an InternalError that names the
/// point. Throws the IoErrors of the store. If the sweep is interrupted, stores all answers so far, and then throws
/// Interrupted. Any other exception becomes the outcome of its point.
SweepResult run_sweep(const SweepRequest& request);

/// Chooses the points that SimGrid repeats. `complete` are the points that have numbers. The number of chosen points is
/// `share` times the number of these points, rounded up. The points whose values have the smallest hashes are chosen.
/// So the points are spread like a random choice, but equal sweeps choose equal points.
std::vector<std::size_t> points_to_verify(const Points& points,
                                          const std::vector<std::size_t>& complete, double share);

}  // namespace sluice
