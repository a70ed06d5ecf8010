#include "planning/run_seconds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "execute/arithmetic/replay.hpp"

namespace sluice {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr std::int64_t alike = 4;  ///< iterations in a row: more than waits and early loads reach

/// Seconds by which the last iterations but two follow each other; NaN where they differ. The very
/// last ones leave out what would be for later ones.
double period(const Plan& plan, const std::vector<std::vector<double>>& ends) {
  const auto last = static_cast<std::size_t>(plan.iterations) - 3;
  double found = std::numeric_limits<double>::quiet_NaN();
  for (std::uint32_t a = plan.body_begin; a < plan.body_end; ++a) {
    const std::vector<double>& own = ends[a - plan.body_begin];
    if (own.empty()) continue;
    for (std::size_t i = last; i + alike > last; --i) {
      const double shift = own[i] - own[i - 1];
      if (std::isnan(found)) found = shift;
      if (std::abs(shift - found) > 1e-13 * own[last])
        return std::numeric_limits<double>::quiet_NaN();
    }
  }
  return found;
}

}  // namespace

void stay_within(Plan& plan, const std::string& device, std::int64_t bytes) {
  for (Pool& pool : plan.pools)
    if (pool.name == device) pool.limit = bytes;
}

double run_seconds(Plan& plan) {
  const std::int64_t whole = plan.iterations;
  for (std::int64_t some = 4 * alike; some < whole; some *= 2) {
    plan.iterations = some;
    std::vector<std::vector<double>> ends(plan.body_end - plan.body_begin);
    const ReplayResult result = replay(plan, [&](const Executed& executed) {
      if (plan.section_of(executed.action) != Section::body) return;
      std::vector<double>& own = ends[executed.action - plan.body_begin];
      own.resize(static_cast<std::size_t>(some), 0);
      own[static_cast<std::size_t>(executed.iteration)] = executed.end;
    });
    if (result.blocking) return never;
    const double each = period(plan, ends);
    if (std::isnan(each)) continue;
    plan.iterations = whole;
    return result.makespan + static_cast<double>(whole - some) * each;
  }
  plan.iterations = whole;
  const ReplayResult result = replay(plan);
  return result.blocking ? never : result.makespan;
}

}  // namespace sluice
