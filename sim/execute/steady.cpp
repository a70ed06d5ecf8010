#include "execute/steady.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sluice {

double rounding_of(double now, std::int64_t executions) {
  return (16 + 4 * std::sqrt(static_cast<double>(executions))) * 0x1p-53 * now;
}

namespace {

/// Returns the greatest difference, in seconds, at which two periods count as equally long. Each
/// addition of seconds is rounded. So this difference grows with the number of executions in a
/// period.
double rounding(const Snapshot& last, const Snapshot& before) {
  return rounding_of(last.now, last.row - before.row);
}

bool same(const Snapshot& a, const Snapshot& b, double tolerance) {
  return a.numbers == b.numbers && a.times.size() == b.times.size() &&
         std::equal(a.times.begin(), a.times.end(), b.times.begin(),
                    [&](double x, double y) { return std::abs(x - y) <= tolerance; });
}

}  // namespace

std::optional<Jump> PeriodSearch::add(Snapshot snapshot) {
  states_.push_back(std::move(snapshot));
  const Snapshot& last = states_.back();
  for (std::size_t p = 1; p <= longest && 2 * p < states_.size(); ++p) {
    const Snapshot& before = states_[states_.size() - 1 - p];
    const Snapshot& first = states_[states_.size() - 1 - 2 * p];
    const Jump period{last.iteration - before.iteration, last.now - before.now,
                      last.row - before.row};
    if (period.iterations == before.iteration - first.iteration &&
        period.rows == before.row - first.row &&
        std::abs(period.seconds - (before.now - first.now)) <= rounding(last, before) &&
        same(last, before, rounding(last, before)) && same(before, first, rounding(last, before)))
      return period;
  }
  if (states_.size() > 2 * longest) {
    begin_ = 2 * last.iteration;
    states_.clear();
  }
  return {};
}

}  // namespace sluice
