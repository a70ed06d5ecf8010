// A sweep: one scenario at many points, on the replay, in a few threads.
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

/// Of N parts of a sweep the one with the number `number`, from 1: points whose place leaves that
/// remainder.
struct Shard {
  std::size_t number = 1, count = 1;
  bool has(std::size_t point) const { return point % count == number - 1; }
};
/// "2/4". Throws UsageError.
Shard parse_shard(const std::string& text);

struct SweepRequest {
  const Variants& variants;
  const Points& points;
  std::size_t jobs = 1;  ///< threads, or processes with SimGrid; the answer does not depend on it
  Measure simgrid = {};  ///< runs all points, each in a process of its own; none: the replay does
  /// Share of the points that run again, by both executors, each in a process of its own: 0 to 1,
  /// at least one point if above 0.
  double verify = 0;
  Measure both = {};  ///< runs them, and throws where the executors differ
  Shard shard = {};
  Store* store = nullptr;     ///< where outcomes are looked up and kept; null: nowhere
  bool retry_failed = false;  ///< points that failed before are asked again
  /// Called in the thread of the caller with the number of points that have an outcome.
  std::function<void(std::size_t done, std::size_t total)> progress = {};
};

struct SweepResult {
  std::vector<std::size_t> points;  ///< their numbers, ascending; all of them, or those of a shard
  std::vector<PointResult> outcomes;  ///< by place in `points`
  std::size_t from_store = 0, verified = 0;
  std::size_t count(PointResult::Status status) const;
};

/// Throws InternalError naming the point where SimGrid comes to something else; IoError of the
/// store; Interrupted: what was found until then is in the store. Everything else is an outcome.
SweepResult run_sweep(const SweepRequest& request);

/// Which of the points that ran SimGrid repeats: this share of them, rounded up; those whose values
/// have the smallest hashes, which is as good as at random, and the same every time.
std::vector<std::size_t> points_to_verify(const Points& points,
                                          const std::vector<std::size_t>& complete, double share);

}  // namespace sluice
