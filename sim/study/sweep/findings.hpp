// The findings of a sweep: the best point, and the value of an axis from which on transfers are hidden.
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
/// Returns false if neither smaller nor larger numbers are better. Throws UsageError if there is no such metric.
bool has_direction(const std::string& number);
/// Returns the names of a metric's numbers at the points of a result: "makespan_s", for example, or "peak_bytes[gpu]"
/// and "peak_bytes[host]". If there are none, returns only the name of the metric.
std::vector<std::string> numbers_of_metric(const SweepResult& result, const std::string& metric);

/// Returns the index of the complete point with the best number of a metric. Numbers with a relative difference of at
/// most 1e-9 count as equal. Of equal points, returns the first. If no point has the number, returns nullopt. If
/// has_direction() is false, returns nullopt, too. Throws UsageError if there is no such metric.
std::optional<std::size_t> best_place(const SweepResult& result, const std::string& metric);

/// Transfers count as hidden if exposed_share() is at most this
/// number.
inline constexpr double hidden_share = 0.05;
/// Returns the time of waiting for transfers, divided by the time of computing and waiting together. Returns NaN if the
/// point has no numbers.
double exposed_share(const PointResult& outcome);
/// Returns whether exposed_share() is at most hidden_share, with a tolerance of 1e-9.
bool hides(const PointResult& outcome);

/// The value of one axis from which on transfers are hidden, for fixed values of all other axes.
struct HiddenFrom {
  std::vector<std::string> others;  ///< KEY=VALUE of each of the other axes that has several values
  /// KEY=VALUE from which on transfers stay hidden. If there is none, the text is empty.
  std::string from;
  bool everywhere = false;  ///< whether transfers are hidden from the first value on
};
/// Returns the values of one axis from which on transfers are hidden. Only axes of numbers count. The axis with the
/// most values is taken. If there is no such axis or the points are not a whole grid, the list is empty.
std::vector<HiddenFrom> crossings(const Points& points, const SweepResult& result);

/// The points that were refused for one common reason. Numbers in the text of the reason may differ.
struct Refusal {
  PointResult::Status status = PointResult::Status::infeasible;
  std::size_t count = 0;
  std::size_t place = 0;  ///< index of the first of these points
};
std::vector<Refusal> refusals(const SweepResult& result);

}  // namespace sluice
