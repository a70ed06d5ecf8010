// What a sweep shows: the best point, and the value of an axis from which on computation hides transfers.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "study/sweep/axis.hpp"
#include "study/sweep/sweep.hpp"

namespace sluice {

/// The metric to which a number belongs: "peak_bytes" for "peak_bytes[gpu]".
std::string metric_of(const std::string& number);
/// Whether a small or a large number is better. Throws UsageError when there is no such metric.
bool has_direction(const std::string& number);
/// The numbers that the points have of a metric: "makespan_s" alone, or "peak_bytes[gpu]" and
/// "peak_bytes[host]". If no point has any, the name of the metric.
std::vector<std::string> numbers_of_metric(const SweepResult& result, const std::string& metric);

/// The index in the result of the complete point with the best number of a metric; of several that are
/// equal to a part in 10^9, the first. None: no point has the number, or it has no direction. Throws
/// UsageError when there is no such metric.
std::optional<std::size_t> best_place(const SweepResult& result, const std::string& metric);

/// If computation waits for transfers at most this part of its time, they count as hidden.
inline constexpr double hidden_share = 0.05;
/// The time of waiting for transfers as a part of computation and waiting. It is not a number (NaN) if the point has no
/// numbers.
double exposed_share(const PointResult& outcome);
/// Whether exposed_share() is at most hidden_share, to a part in 10^9.
bool hides(const PointResult& outcome);

/// From which value of one axis on transfers are hidden, while the values of the other axes are fixed.
struct HiddenFrom {
  std::vector<std::string> others;  ///< KEY=VALUE of the other axes that have several values
  std::string from;         ///< KEY=VALUE from which on transfers stay hidden; empty: at no value
  bool everywhere = false;  ///< already at the first value
};
/// The results along the axis with the most values. There are results if all values of that axis are numbers, and if a
/// grid was swept completely. They cover the points that ran, in the order of the numbers. Empty if there is no such
/// axis.
std::vector<HiddenFrom> crossings(const Points& points, const SweepResult& result);

/// Points that were refused for the same reason, apart from numbers in its text.
struct Refusal {
  PointResult::Status status = PointResult::Status::infeasible;
  std::size_t count = 0;
  std::size_t place = 0;  ///< index of the first of these points
};
std::vector<Refusal> refusals(const SweepResult& result);

}  // namespace sluice
