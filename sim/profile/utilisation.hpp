// Interpolates between measured operators. It estimates which share of a machine's rates an operator of given sizes
// reaches, from measured operators of similar sizes. It does not interpolate times, because these vary much more with
// the sizes than the share does.
//
// The estimate is a plane through the nearest rows. The logarithm of the share is a linear function of the
// logarithms of the sizes. Rows are weighted by 1 / distance^2 (Cleveland, Robust locally weighted regression, JASA
// 74, 1979).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace sluice {

struct MeasuredPoint {
  std::vector<double> sizes;  ///< above 0
  double share = 0;  ///< above 0: the seconds at the machine's rates / the measured seconds
};

/// The errors of estimates for measured rows, each estimated without the row itself.
struct LeftOut {
  /// The rows that could be left out, because their sizes are within those of the others.
  std::size_t rows = 0;
  double median = 0, ninetieth = 0;  ///< of |estimated / measured - 1|
};

class Utilisation {
 public:
  explicit Utilisation(std::vector<MeasuredPoint> points);

  /// Returns nothing if one of the sizes is outside of what was measured.
  std::optional<double> share(const std::vector<double>& sizes) const;
  /// Returns the errors of at most `most` rows, chosen evenly.
  LeftOut left_out(std::size_t most = 5000) const;
  std::size_t rows() const { return points_.size(); }

 private:
  struct Point {
    std::vector<double> x;
    double y = 0;
  };
  /// `but` is the index of a point that is left out.
  std::optional<double> estimate(const std::vector<double>& x, std::size_t but) const;
  bool within(const std::vector<double>& x, std::size_t but) const;

  std::vector<Point> points_;
};

}  // namespace sluice
