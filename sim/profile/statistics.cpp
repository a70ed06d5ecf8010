#include "profile/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sluice {
namespace {

double mean_of(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

double std_of(const std::vector<double>& numbers, double mean) {
  if (numbers.size() < 2) return 0;
  double squares = 0;
  for (const double number : numbers) squares += (number - mean) * (number - mean);
  return std::sqrt(squares / static_cast<double>(numbers.size() - 1));
}

}  // namespace

double quantile_of(std::vector<double> numbers, double q) {
  std::sort(numbers.begin(), numbers.end());
  const double place = q * static_cast<double>(numbers.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double part = place - static_cast<double>(below);
  if (part == 0) return numbers[below];
  return numbers[below] + part * (numbers[below + 1] - numbers[below]);
}

double median_of(std::vector<double> numbers) {
  return quantile_of(std::move(numbers), 0.5);
}

Spread spread_of(const std::vector<double>& numbers) {
  Spread spread;
  spread.n = numbers.size();
  spread.mean = mean_of(numbers);
  spread.std = std_of(numbers, spread.mean);
  spread.median = median_of(numbers);
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  spread.least = *least;
  spread.most = *most;
  std::vector<double> distances, within;
  for (const double number : numbers) {
    distances.push_back(std::abs(number - spread.median));
    if (std::abs(number - spread.mean) <= 3 * spread.std) within.push_back(number);
  }
  spread.mad = median_of(distances);
  // If all numbers are equal, rounding may put their mean more than 3 std away from them. Then `within` is empty.
  spread.mean_within = within.empty() ? spread.mean : mean_of(within);
  spread.dropped = within.empty() ? 0 : numbers.size() - within.size();
  // MAD is the median of the distances from the median. For a normal distribution, 1.4826 x MAD is the standard
  // deviation.
  for (const double distance : distances)
    if (distance > 3 * 1.4826 * spread.mad) ++spread.outliers;
  return spread;
}

void Statistics::derive() {
  if (samples.empty()) return;
  mean = mean_of(samples);
  std = std_of(samples, *mean);
  median = median_of(samples);
  n = static_cast<double>(samples.size());
}

}  // namespace sluice
