#include "fates/optimal/relaxation_whole.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace sluice {
namespace {

/// The choices for some stages: their bytes on the device at the turning point, and their seconds.
struct WholePoint {
  double bytes = 0, seconds = 0;
};

/// The best choices, in the order of rising bytes and falling seconds.
using WholeRow = std::vector<WholePoint>;

/// Goes from stage to stage, like the solution for a price of a byte in relaxation.cpp. But for each number of bytes,
/// it keeps the choices with the fewest seconds.
class WholeTensors {
 public:
  WholeTensors(const Chain& chain, const FateWeights& weights, const BoundaryReads& reads,
               double room)
      : chain_(chain), weights_(weights), reads_(reads), room_(room) {}

  double least() {
    const std::size_t n = chain_.stages.size();
    double always = 0;
    for (std::size_t s = 0; s < n; ++s)
      always += weights_.forward[s] * chain_.stages[s].forward_s +
                weights_.backward[s] * chain_.stages[s].backward_s;
    if (room_ >= 0) once_ = {{0, always}};
    for (std::size_t s = 0; s + 1 < n; ++s) pass(s);
    if (n > 1 && !reads_.last && reads_.later[n - 1]) once_ = held_boundary(n - 1);
    const WholeRow all = either(once_, again_);
    return all.empty() ? std::numeric_limits<double>::infinity() : all.back().seconds;
  }

 private:
  void pass(std::size_t s) {
    const ChainStage& stage = chain_.stages[s];
    const WholeRow needed = held_boundary(s);  // boundary s is held or copied
    const bool read = reads_.later[s], read_again = read || reads_.follows[s];
    WholeRow runs =
        more(either(read_again ? needed : once_, again_), 0, weights_.again * stage.forward_s);
    once_ = held(either(read ? needed : once_, again_), stage.inner, s, true);
    again_ = std::move(runs);
  }

  WholeRow held_boundary(std::size_t s) const {
    return held(once_, chain_.boundary(s), s == 0 ? 0 : s - 1, s > 0);
  }

  /// Returns the choices of `row`, each with two choices for a tensor: the device holds it, or it is copied.
  WholeRow held(const WholeRow& row, const ChainTensor& tensor, std::size_t stage,
                bool saved) const {
    const double copies =
        weights_.load[stage] * tensor.load_s + (saved ? weights_.save[stage] * tensor.save_s : 0);
    return either(more(row, static_cast<double>(tensor.bytes), 0), more(row, 0, copies));
  }

  /// Returns the row with more bytes and more seconds, without choices that do not fit.
  WholeRow more(WholeRow row, double bytes, double seconds) const {
    for (WholePoint& point : row) point.bytes += bytes, point.seconds += seconds;
    while (!row.empty() && row.back().bytes > room_) row.pop_back();
    return row;
  }

  WholeRow either(const WholeRow& a, const WholeRow& b) const {
    WholeRow both, best;
    both.reserve(a.size() + b.size());
    std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both),
               [](const WholePoint& left, const WholePoint& right) {
                 return std::pair(left.bytes, left.seconds) < std::pair(right.bytes, right.seconds);
               });
    const double step = both.size() > most_points ? room_ / most_points : 0;
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

  static constexpr std::size_t most_points = 4096;

  const Chain& chain_;
  const FateWeights& weights_;
  const BoundaryReads& reads_;
  double room_;
  WholeRow once_, again_;  ///< as in relaxation.cpp
};

}  // namespace

double whole_tensors_bound(const Chain& chain, std::int64_t budget, const FateWeights& weights) {
  const auto [reads, room] = turning_point(chain, budget);
  return WholeTensors(chain, weights, reads, room).least();
}

}  // namespace sluice
