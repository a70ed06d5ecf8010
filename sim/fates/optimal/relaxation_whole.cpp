#include "fates/optimal/relaxation_whole.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

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
