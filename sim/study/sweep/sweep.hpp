// A sweep evaluates one scenario at many points, by the replay in a few threads.
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

/// One of several equal parts of a sweep. `number` counts the parts from 1. The part has the points whose position,
/// divided by the number of parts, leaves the remainder `number` - 1.
struct Shard {
  std::size_t number = 1, count = 1;
  bool has(std::size_t point) const { return point % count == number - 1; }
};
/// Parses "2/4". Throws UsageError.
Shard parse_shard(const std::string& text);

struct SweepRequest {
  const Variants& variants;
  const Points& points;
  std::size_t jobs = 1;  ///< threads, or processes with SimGrid; the answer does not depend on it
  /// Runs each point in its own process. If this is empty, the replay runs all points.
  Measure simgrid = {};
  /// The share of the points that both executors repeat, from 0 to 1. Each of these points has its own process. If the
  /// share is above 0, at least one point is repeated.
  double verify = 0;
  /// Runs a point by both executors, and throws when their results differ.
  Measure by_both_executors = {};
  Shard shard = {};
  Store* store = nullptr;     ///< where outcomes are looked up and stored; may be null
  bool retry_failed = false;  ///< points that failed before are evaluated again
  /// Called in the thread of the caller with the number of points that have an outcome.
  std::function<void(std::size_t done, std::size_t total)> progress = {};
};

struct SweepResult {
  /// Numbers of the points, ascending: all points, or those of a shard.
  std::vector<std::size_t> points;
  std::vector<PointResult> outcomes;  ///< one per element of `points`
  std::size_t ran = 0;                ///< points that were executed by this call and have numbers
  std::size_t from_store = 0, verified = 0;
  std::size_t count(PointResult::Status status) const;
  /// Throws the error of the first point if no point could be run: InternalError if memory was out, else InputError.
  void require_some_point() const;
};

/// Runs the sweep. Throws InternalError, which names the point, when SimGrid gives another result. Throws IoError if
/// the store throws an IoError. Throws Interrupted after all answers so far have been stored. Any other fault becomes
/// the outcome of its point.
SweepResult run_sweep(const SweepRequest& request);

/// Chooses the points that SimGrid repeats: this share of the points that ran, rounded up. The points whose values have
/// the smallest hashes are chosen. The choice is as good as a random choice, and the same every time.
std::vector<std::size_t> points_to_verify(const Points& points,
                                          const std::vector<std::size_t>& complete, double share);

}  // namespace sluice
