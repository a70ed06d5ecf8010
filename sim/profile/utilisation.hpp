// Estimates which share of a machine's rates an operator reaches. The estimate interpolates between measured operators
// of similar sizes. Operators of different sizes differ much more in their times than in their shares. So the code
// interpolates shares instead of times.
//
// A linear function is fitted to the nearest measured rows. This function computes the logarithm of the share from the
// logarithms of the sizes. The weight of a row is 1 / distance^2, where the distance is taken between logarithms of
// sizes. The method is Cleveland's (Robust locally weighted regression, JASA 74, 1979).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace sluice {

struct MeasuredPoint {
  std::vector<double> sizes;  ///< above 0
  /// The seconds that the operator would take at the machine's rates, divided by its measured seconds. The share is
  /// above 0.
  double share = 0;
};

/// How well estimates agree with measured rows. Each measured row is estimated as if this row had not been measured.
struct LeftOut {
  /// The number of rows that can be estimated. A row can be estimated if its sizes are within the range of the other
  /// rows' sizes.
  std::size_t rows = 0;
  /// The median and the 90th percentile of the errors |estimated / measured - 1|.
  double median = 0, ninetieth = 0;
};

class Utilisation {
 public:
  explicit Utilisation(std::vector<MeasuredPoint> points);

  /// Returns the estimated share. If one of the sizes is outside of the measured range, returns nullopt.
  std::optional<double> share(const std::vector<double>& sizes) const;
  /// Returns the errors for at most `most` rows. These rows are evenly spaced in the list of all rows.
  LeftOut left_out(std::size_t most = 5000) const;
  std::size_t rows() const { return points_.size(); }

 private:
  struct Point {
    std::vector<double> x;
    double y = 0;
  };
  /// Estimates the logarithm of the share at the point `x`, and ignores the measured point with the index `but`.
  std::optional<double> estimate(const std::vector<double>& x, std::size_t but) const;
  bool within(const std::vector<double>& x, std::size_t but) const;

  std::vector<Point> points_;
};

}  // namespace sluice
