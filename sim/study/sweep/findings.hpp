// The findings of a sweep: the best point, and the value of an axis at which computation begins to hide the transfers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "study/sweep/axis.hpp"
#include "study/sweep/sweep.hpp"

namespace sluice {

/// Returns the metric to which a number belongs: "peak_bytes" for "peak_bytes[gpu]".
std::string metric_of(const std::string& number);
/// Returns true if either smaller or larger values of this number are better. Throws UsageError if there is no such
/// metric.
bool has_direction(const std::string& number);
/// Returns the names of all numbers that the points have for a metric. For example, a metric with keys has
/// "peak_bytes[gpu]" and "peak_bytes[host]". If no point has a number for the metric, returns only the name of the
/// metric.
std::vector<std::string> numbers_of_metric(const SweepResult& result, const std::string& metric);

/// Returns the index of the complete point with the best number of a metric. Numbers with a relative difference of at
/// most 1e-9 count as equal. Of points with equal numbers, returns the first. If no point has the number, or
/// has_direction() is false, returns nullopt. Throws UsageError if there is no such metric.
std::optional<std::size_t> best_place(const SweepResult& result, const std::string& metric);

/// Transfers count as hidden if exposed_share() is at most this
/// number.
inline constexpr double hidden_share = 0.05;
/// Returns which share of its time a point waits for transfers: waiting / (waiting + computing). Returns NaN if the
/// point has no numbers.
double exposed_share(const PointResult& outcome);
/// Returns true if exposed_share() is at most hidden_share, with a relative tolerance of 1e-9.
bool hides(const PointResult& outcome);

/// At which value of one axis transfers become hidden, while all other axes keep their values.
struct HiddenFrom {
  std::vector<std::string> others;  ///< KEY=VALUE of each of the other axes that has several values
  /// The value at which transfers become hidden and then stay hidden, as KEY=VALUE. If there is no such value, the text
  /// is empty.
  std::string from;
  bool everywhere = false;  ///< whether transfers are hidden from the first value on
};
/// Finds the values at which transfers become hidden on one axis: of the axes whose values are numbers, the axis with
/// the most values. Returns one element for each combination of values of the other axes. If there is no axis of
/// numbers, or the points are not a whole grid, the list is empty.
std::vector<HiddenFrom> crossings(const Points& points, const SweepResult& result);

/// The points that were refused for the same reason. Two reasons count as the same if their texts differ only in
/// numbers.
struct Refusal {
  PointResult::Status status = PointResult::Status::infeasible;
  std::size_t count = 0;
  std::size_t place = 0;  ///< index of the first of these points
};
std::vector<Refusal> refusals(const SweepResult& result);

}  // namespace sluice
