// Numbers of what was measured several times.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace sluice {

/// What is known of a quantity that was measured: its samples, or what others made of them.
struct Statistics {
  std::vector<double> samples;
  std::optional<double> n, mean, median, std;

  bool known() const { return mean || median; }
  /// The median, else the mean.
  std::optional<double> value() const { return median ? median : mean; }
  /// n, mean, median and std of the samples, where there are some.
  void derive();
};

/// Statistics that a few wild samples do not move, beside those that they do.
struct Spread {
  std::size_t n = 0;
  double mean = 0, std = 0;  ///< std: divisor n - 1; 0 where n is 1
  double median = 0;
  double mad = 0;            ///< median of the distances from the median
  double mean_within = 0;    ///< mean of those at most 3 std from the mean
  std::size_t dropped = 0;   ///< those farther than that
  std::size_t outliers = 0;  ///< those farther than 3 x 1.4826 MAD from the median
  double least = 0, most = 0;

  /// (mean_within - median) / median: the choice between the two matters by so much.
  double disagreement() const { return median == 0 ? 0 : (mean_within - median) / median; }
};

/// Of at least one number.
Spread spread_of(const std::vector<double>& numbers);

/// Of at least one number; between the middle two where they are even.
double median_of(std::vector<double> numbers);
/// The number that a share 0 <= q <= 1 of them does not exceed, interpolated linearly.
double quantile_of(std::vector<double> numbers, double q);

}  // namespace sluice
