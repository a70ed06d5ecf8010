// Statistics of quantities that were measured several times.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace sluice {

/// A measured quantity: its samples, or statistics of its samples.
struct Statistics {
  std::vector<double> samples;
  std::optional<double> n, mean, median, std;

  bool known() const { return mean || median; }
  /// Returns the median, or the mean if there is no median.
  std::optional<double> value() const { return median ? median : mean; }
  /// Computes n, mean, median and std of the samples, if there are any.
  void derive();
};

/// Statistics of numbers. Some of the statistics are robust: a few outliers hardly change them.
struct Spread {
  std::size_t n = 0;
  double mean = 0, std = 0;  ///< std has the divisor n - 1, and is 0 if n is 1
  double median = 0;
  double mad = 0;           ///< the median of the distances from the median (MAD)
  double mean_within = 0;   ///< the mean of the numbers that are at most 3 std from the mean
  std::size_t dropped = 0;  ///< how many numbers are more than 3 std from the mean
  /// How many numbers are outliers: numbers that are more than 3 x 1.4826 x MAD away from the median.
  std::size_t outliers = 0;
  double least = 0, most = 0;

  /// Returns (mean_within - median) / median. If the result is small, mean_within and the median lead to the same
  /// conclusions.
  double disagreement() const { return median == 0 ? 0 : (mean_within - median) / median; }
};

/// Returns the statistics of the numbers. There must be at least one number.
Spread spread_of(const std::vector<double>& numbers);

/// Returns the median of the numbers, which must not be empty. If the count is even, the median is the mean of the two
/// middle numbers.
double median_of(std::vector<double> numbers);
/// Returns the quantile q of the numbers, with linear interpolation. q is from 0 to 1.
double quantile_of(std::vector<double> numbers, double q);

}  // namespace sluice
