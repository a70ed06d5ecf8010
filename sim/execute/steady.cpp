#include "execute/steady.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sluice {

namespace {

/// Times are sums of many: equal to some last digits of the clock.
bool same_time(double a, double b, double clock) {
  constexpr double digits = 16 * 0x1p-53;
  return std::abs(a - b) <= digits * clock;
}

bool same(const Snapshot& a, const Snapshot& b, double clock) {
  return a.numbers == b.numbers && a.times.size() == b.times.size() &&
         std::equal(a.times.begin(), a.times.end(), b.times.begin(),
                    [&](double x, double y) { return same_time(x, y, clock); });
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
        same_time(period.seconds, before.now - first.now, last.now) &&
        same(last, before, last.now) && same(before, first, last.now))
      return period;
  }
  if (states_.size() > 2 * longest) {
    begin_ = 2 * last.iteration;
    states_.clear();
  }
  return {};
}

}  // namespace sluice
