#include "fates/optimal/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "fates/optimal/priced_choices.hpp"
#include "fates/optimal/relaxation_stages.hpp"

namespace sluice {
namespace {

/// The choices for some stages: their bytes on the device at the turning point, and their seconds.
struct WholePoint {
  double bytes = 0, seconds = 0;
};

/// The best choices, in the order of rising bytes and falling seconds.
using WholeRow = std::vector<WholePoint>;

/// Keeps the choices with the fewest seconds for each number of bytes.
struct WholeCosts {
  using Value = WholeRow;

  double room = 0;  ///< choices with more bytes do not fit

  /// Returns the choices of `row`, each with two choices for a tensor: the device holds it, or it is copied.
  WholeRow held(const WholeRow& row, double bytes, double copies_s) const {
    return either(more(row, bytes, 0), more(row, 0, copies_s));
  }
  WholeRow more(const WholeRow& row, double seconds) const { return more(row, 0, seconds); }
  WholeRow either(const WholeRow& a, const WholeRow& b) const;

 private:
  /// Returns the row with more bytes and more seconds, without choices that do not fit.
  WholeRow more(WholeRow row, double bytes, double seconds) const {
    for (WholePoint& point : row) point.bytes += bytes, point.seconds += seconds;
    while (!row.empty() && row.back().bytes > room) row.pop_back();
    return row;
  }
};

WholeRow WholeCosts::either(const WholeRow& a, const WholeRow& b) const {
  constexpr std::size_t most_points = 4096;
  WholeRow both, best;
  both.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both),
             [](const WholePoint& left, const WholePoint& right) {
               return std::pair(left.bytes, left.seconds) < std::pair(right.bytes, right.seconds);
             });
  const double step = both.size() > most_points ? room / most_points : 0;
  for (const WholePoint& point : both) {
    if (!best.empty() && point.seconds >= best.back().seconds) continue;
    // Points within one step are joined. The joined point has the fewest bytes and the fewest seconds of these
    // points. So the result can only become smaller.
    if (!best.empty() && point.bytes < best.back().bytes + step)
      best.back().seconds = point.seconds;
    else
      best.push_back(point);
  }
  return best;
}

}  // namespace

FateWeights FateWeights::serial(std::size_t stages) {
  const std::vector<double> ones(stages, 1);
  return {ones, ones, ones, ones};
}

TurningPoint turning_point(const Chain& chain, std::int64_t budget) {
  const std::size_t n = chain.stages.size();
  const ChainStage& last = chain.stages.back();
  TurningPoint point;
  BoundaryReads& reads = point.reads;
  reads.follows.assign(n, 0);
  std::vector<char> reads_on((n + 1) * chain.devices, 0);  // for each boundary and device
  const auto on = [&](std::size_t b, std::size_t s) -> char& {
    return reads_on[b * chain.devices + chain.device(s)];
  };
  std::int64_t working = last.inner.bytes;
  if (last.reads_output) working += last.output.bytes;
  for (std::size_t s = 0; s < n; ++s) {
    if (chain.stages[s].reads_output) on(s + 1, s) = 1;
    chain.each_read(s, [&](std::size_t b, bool backward) {
      if (backward) on(b, s) = 1;
      if (b == s) reads.follows[s] = 1;
      if (s + 1 < n) return;
      if (b > 0) working += chain.stages[b - 1].gradient;
      if (b == s) reads.last = backward;
    });
  }
  if (reads.last) {
    working += chain.boundary(n - 1).bytes;
    on(n - 1, n - 1) = 0;
  }
  for (std::size_t b = 0; b < n; ++b) {
    const auto begin = reads_on.begin() + static_cast<std::ptrdiff_t>(b * chain.devices);
    const auto all = std::count(begin, begin + static_cast<std::ptrdiff_t>(chain.devices), 1);
    const char own = b > 0 ? on(b, b - 1) : 0;
    reads.own.push_back(own);
    reads.others.push_back(static_cast<std::uint32_t>(all - own));
    reads.here.push_back(on(b, b));
  }
  const std::int64_t occupied =
      std::accumulate(chain.occupied.begin(), chain.occupied.end(), std::int64_t{0});
  point.room = static_cast<double>(budget - occupied - last.backward_workspace -
                                   working / chain.side_by_side);
  return point;
}

FateRelaxation::FateRelaxation(const Chain& chain, std::int64_t budget)
    : chain_(chain), n_(chain.stages.size()) {
  TurningPoint point = turning_point(chain, budget);
  reads_ = std::move(point.reads);
  room_ = point.room;
  double forward = 0;
  for (const ChainStage& stage : chain.stages) forward += stage.forward_s;
  for (const ChainStage& stage : chain.stages) forward += stage.turn.load_s;
  const auto consider = [&](std::int64_t bytes, double load_s = 0) {
    if (bytes > 0) steepest_ = std::max(steepest_, (forward + load_s) / static_cast<double>(bytes));
  };
  // With several devices, a boundary may be loaded in addition to what runs again.
  for (std::size_t b = 0; b <= n_; ++b)
    consider(chain.boundary(b).bytes, chain.devices > 1 ? chain.boundary(b).load_s : 0);
  for (const ChainStage& stage : chain.stages) {
    consider(stage.inner.bytes);
    consider(stage.turn.bytes);
  }
}

double FateRelaxation::BestBound::share() const {
  const double between = more.bytes - less.bytes;
  return between > 0 ? std::clamp(more.bytes / between, 0.0, 1.0) : 1;
}

// Finds the price per byte at which `value`, the lower bound on the seconds (FateRelaxation::Solution), is greatest.
// As a function of the price, the value is the minimum of straight lines.
// Each line stands for one choice of all fates. The slope of the line is the number of kept bytes minus the number of
// available bytes. Two lines, `more` and `less`, meet in a point. If no other line lies below this point, the point is
// the maximum. If a third line lies below the point, the third line replaces one of the two lines. If its choice keeps
// more bytes than are available, it replaces `more`. Otherwise it replaces `less`. Then the search goes on with the new
// pair of lines.
FateRelaxation::BestBound FateRelaxation::best(const FateWeights& weights) const {
  PricedChoices row(chain_, weights, reads_);
  // The values of a line: at its price, and at the price 0.
  const auto value = [&](const PricedChoices::Solved& line) {
    return line.cost.value - line.price * room_;
  };
  const auto bytes = [&](const PricedChoices::Solved& line) { return line.cost.bytes - room_; };
  const auto at_zero = [&](const PricedChoices::Solved& line) {
    return value(line) - line.price * bytes(line);
  };
  PricedChoices::Solved more, less, now;
  row.solve(0, more);
  BestBound best;
  best.value = value(more);
  if (bytes(more) <= 0) {
    less = more;
  } else {
    row.solve(2 * steepest_, less);
    best.value = std::max(value(more), value(less));
    for (int i = 0; i < 100 && bytes(less) < bytes(more); ++i) {
      const double price = (at_zero(less) - at_zero(more)) / (bytes(more) - bytes(less));
      const double meet = at_zero(more) + price * bytes(more);
      row.solve(price, now);
      best.value = std::max(best.value, value(now));
      if (value(now) >= meet - 1e-12 * std::abs(meet)) break;
      std::swap(bytes(now) > 0 ? more : less, now);
    }
  }
  const auto solution = [&](const PricedChoices::Solved& line) {
    Solution found{value(line), bytes(line), {}, {}};
    found.choices = row.choices(line, &found.loads);
    return found;
  };
  best.price = less.price;
  best.less = solution(less);
  best.more = more.price == less.price ? best.less : solution(more);
  return best;
}

double whole_tensors_bound(const Chain& chain, std::int64_t budget, const FateWeights& weights) {
  const auto [reads, room] = turning_point(chain, budget);
  const WholeCosts costs{room};
  const RelaxedStages<WholeCosts> stages(chain, weights, reads, costs);
  RelaxedStages<WholeCosts>::Before before;
  if (room >= 0) before.once = {{0, stages.always_s()}};
  for (std::size_t s = 0; s + 1 < chain.stages.size(); ++s) before = stages.after(before, s);
  const WholeRow all = stages.end(before);
  return all.empty() ? std::numeric_limits<double>::infinity() : all.back().seconds;
}

}  // namespace sluice
