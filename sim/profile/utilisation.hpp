// Interpolates between measured operators. The code estimates which share of a machine's rates an operator reaches. The
// estimate comes from measured operators of similar sizes. Times vary much more with the sizes than shares. So shares
// are interpolated instead of times.
//
// The nearest rows are fitted by a plane: the logarithm of the share is a linear function of the logarithms of the
// sizes. The weight of a row is 1 / distance^2. The method is Cleveland's (Robust locally weighted regression, JASA 74,
// 1979).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace sluice {

struct MeasuredPoint {
  std::vector<double> sizes;  ///< above 0
  /// The seconds at the machine's rates, divided by the measured seconds. The share is above 0.
  double share = 0;
};

/// The errors of estimates for measured rows. Each measured row is estimated from all other measured rows.
struct LeftOut {
  /// The number of rows that can be estimated. The sizes of such a row are within the range of all other rows.
  std::size_t rows = 0;
  /// The median and the 90th percentile of the errors |estimated / measured - 1|.
  double median = 0, ninetieth = 0;
};

class Utilisation {
 public:
  explicit Utilisation(std::vector<MeasuredPoint> points);

  /// Returns the estimated share, or nullopt if one of the sizes is outside of the measured range.
  std::optional<double> share(const std::vector<double>& sizes) const;
  /// Returns the errors of at most `most` rows, which are chosen at equal distances in the list of rows.
  LeftOut left_out(std::size_t most = 5000) const;
  std::size_t rows() const { return points_.size(); }

 private:
  struct Point {
    std::vector<double> x;
    double y = 0;
  };
  /// Estimates the logarithm of the share without the point that has the index `but`.
  std::optional<double> estimate(const std::vector<double>& x, std::size_t but) const;
  bool within(const std::vector<double>& x, std::size_t but) const;

  std::vector<Point> points_;
};

}  // namespace sluice
