// What lies between measured operators: the share of a machine's rates that they reach, as a
// function of their sizes, fitted near the sizes that are asked for. Never times: those of a
// machine's rates vary with the sizes much more than the share does.
//
// Of the nearest rows, in logarithms of the sizes, weighted by 1 / distance^2, a plane through the
// logarithms of the shares (Cleveland, Robust locally weighted regression, JASA 74, 1979).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace sluice {

struct MeasuredPoint {
  std::vector<double> sizes;  ///< above 0
  double share = 0;           ///< above 0: what the machine's rates would take / seconds
};

/// How far off it is where a row that was measured is left out.
struct LeftOut {
  std::size_t rows = 0;  ///< that could be left out: their sizes are within those of the others
  double median = 0, ninetieth = 0;  ///< of |estimated / measured - 1|
};

class Utilisation {
 public:
  explicit Utilisation(std::vector<MeasuredPoint> points);

  /// None: outside of what was measured, along one of the sizes.
  std::optional<double> share(const std::vector<double>& sizes) const;
  /// Of at most `most` rows, evenly chosen.
  LeftOut left_out(std::size_t most = 5000) const;
  std::size_t rows() const { return points_.size(); }

 private:
  struct Point {
    std::vector<double> x;
    double y = 0;
  };
  /// `but`: a point that is not there.
  std::optional<double> estimate(const std::vector<double>& x, std::size_t but) const;
  bool within(const std::vector<double>& x, std::size_t but) const;

  std::vector<Point> points_;
};

}  // namespace sluice
