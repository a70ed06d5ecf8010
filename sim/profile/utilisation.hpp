// Fills the gaps between measured operators. It estimates the share of a machine's rates that they
// reach, as a function of their sizes, fitted near the sizes that are asked for. It does not fit
// times, because these vary with the sizes much more than the share does.
//
// The estimate is a plane through the logarithms of the shares of the nearest rows, in logarithms
// of the sizes, weighted by 1 / distance^2 (Cleveland, Robust locally weighted regression, JASA 74,
// 1979).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace sluice {

struct MeasuredPoint {
  std::vector<double> sizes;  ///< above 0
  double share = 0;           ///< above 0: the seconds at the machine's rates / the measured
                              ///< seconds
};

/// How far off an estimate is where a measured row is left out.
struct LeftOut {
  std::size_t rows = 0;  ///< the rows that could be left out, because their sizes are within those
                         ///< of the others
  double median = 0, ninetieth = 0;  ///< of |estimated / measured - 1|
};

class Utilisation {
 public:
  explicit Utilisation(std::vector<MeasuredPoint> points);

  /// None: one of the sizes is outside of what was measured.
  std::optional<double> share(const std::vector<double>& sizes) const;
  /// The errors of at most `most` rows, chosen evenly.
  LeftOut left_out(std::size_t most = 5000) const;
  std::size_t rows() const { return points_.size(); }

 private:
  struct Point {
    std::vector<double> x;
    double y = 0;
  };
  /// `but`: a point that is left out.
  std::optional<double> estimate(const std::vector<double>& x, std::size_t but) const;
  bool within(const std::vector<double>& x, std::size_t but) const;

  std::vector<Point> points_;
};

}  // namespace sluice
