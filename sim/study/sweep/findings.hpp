// What a sweep shows: the best point, and from where on transfers are hidden behind computation.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "study/sweep/axis.hpp"
#include "study/sweep/sweep.hpp"

namespace sluice {

/// The place in the result of the complete point with the best number of a metric; of several
/// that are equal to a part in 10^9, the first. None: no point has one, or the metric has no better
/// and worse. Throws UsageError: there is no such metric, or it is not one number.
std::optional<std::size_t> best_place(const SweepResult& result, const std::string& metric);

/// Compute waits for transfers at most this share of its time: they count as hidden.
inline constexpr double hidden_share = 0.05;
/// The share of computation and waiting for transfers that is waiting; not a number where the point
/// has no numbers.
double exposed_share(const PointResult& outcome);
/// Is that no more than hidden_share, to a part in 10^9?
bool hides(const PointResult& outcome);

/// Along one axis, with the values of the other axes fixed.
struct HiddenFrom {
  std::vector<std::string> others;  ///< KEY=VALUE of the other axes that have several values
  std::string from;         ///< KEY=VALUE from which on transfers stay hidden; empty: at no value
  bool everywhere = false;  ///< already at the first value
};
/// Along the axis with the most values, all of which are numbers; of a grid that was swept whole.
/// Empty where there is no such axis.
std::vector<HiddenFrom> crossings(const Points& points, const SweepResult& result);

/// Points that were refused for one reason, numbers in its text aside.
struct Refusal {
  PointResult::Status status = PointResult::Status::infeasible;
  std::size_t count = 0;
  std::size_t place = 0;  ///< of the first one
};
std::vector<Refusal> refusals(const SweepResult& result);

}  // namespace sluice
