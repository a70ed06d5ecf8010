#include "profile/utilisation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "profile/statistics.hpp"

namespace sluice {
namespace {

constexpr std::size_t nearest = 10;
constexpr double rounding = 1e-9;
constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
  return sum;
}

/// Keeps two points: of the measured points, the nearest below and the nearest above the size at which the share of the
/// rates is estimated. If a point has exactly this size, only that point is kept.
template <class Offset>
void keep_neighbours(std::vector<std::pair<double, std::size_t>>& near, Offset&& offset) {
  std::sort(near.begin(), near.end());
  const auto first_that = [&](auto&& is) {
    return *std::find_if(near.begin(), near.end(),
                         [&](const auto& one) { return is(offset(one.second)); });
  };
  near = {first_that([](double by) { return by <= 0; }),
          first_that([](double by) { return by >= 0; })};
  if (near[0] == near[1]) near.pop_back();
}

/// Solves a x = b for a symmetric matrix a, and returns x[0]. If one of the sizes is equal at all measured points, the
/// matrix is singular. The element of x for this size is then 0. Otherwise, the matrix is positive definite.
double first_of_solution(std::vector<std::vector<double>> a, std::vector<double> b) {
  const std::size_t n = b.size();
  std::vector<bool> used(n);
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, a[i][i]);
  for (std::size_t step = 0; step < n; ++step) {
    std::size_t p = 0;  // The first pivot is the constant term, which every estimate has.
    if (step > 0) {
      p = nobody;
      for (std::size_t i = 1; i < n; ++i)
        if (!used[i] && (p == nobody || a[i][i] > a[p][p])) p = i;
      if (!(a[p][p] > 1e-9 * largest)) break;
    }
    used[p] = true;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == p) continue;
      const double factor = a[i][p] / a[p][p];
      for (std::size_t j = 0; j < n; ++j) a[i][j] -= factor * a[p][j];
      b[i] -= factor * b[p];
    }
  }
  return b[0] / a[0][0];
}

}  // namespace

Utilisation::Utilisation(std::vector<MeasuredPoint> points) {
  for (const MeasuredPoint& point : points) {
    Point made{.y = std::log(point.share)};
    for (const double size : point.sizes) made.x.push_back(std::log(size));
    points_.push_back(std::move(made));
  }
}

bool Utilisation::within(const std::vector<double>& x, std::size_t but) const {
  for (std::size_t d = 0; d < x.size(); ++d) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (std::size_t p = 0; p < points_.size(); ++p) {
      if (p == but) continue;
      least = std::min(least, points_[p].x[d]);
      most = std::max(most, points_[p].x[d]);
    }
    if (!(x[d] >= least - rounding && x[d] <= most + rounding)) return false;
  }
  return true;
}

std::optional<double> Utilisation::estimate(const std::vector<double>& x, std::size_t but) const {
  if (!within(x, but)) return std::nullopt;
  std::vector<std::pair<double, std::size_t>> near;
  for (std::size_t p = 0; p < points_.size(); ++p)
    if (p != but) near.emplace_back(distance(x, points_[p].x), p);
  if (x.size() == 1) keep_neighbours(near, [&](std::size_t p) { return points_[p].x[0] - x[0]; });
  const std::size_t count = std::min(nearest, near.size());
  std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(count), near.end());
  near.resize(count);
  if (near.front().first == 0) return points_[near.front().second].y;
  const std::size_t n = x.size() + 1;
  std::vector<std::vector<double>> a(n, std::vector<double>(n));
  std::vector<double> b(n), row(n);
  for (const auto& [squared, p] : near) {
    row[0] = 1;
    for (std::size_t d = 0; d < x.size(); ++d) row[d + 1] = points_[p].x[d] - x[d];
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) a[i][j] += row[i] * row[j] / squared;
      b[i] += row[i] * points_[p].y / squared;
    }
  }
  return first_of_solution(std::move(a), std::move(b));
}

std::optional<double> Utilisation::share(const std::vector<double>& sizes) const {
  std::vector<double> x;
  for (const double size : sizes) x.push_back(std::log(size));
  const std::optional<double> found = estimate(x, nobody);
  if (!found) return std::nullopt;
  return std::exp(*found);
}

LeftOut Utilisation::left_out(std::size_t most) const {
  const std::size_t step = std::max<std::size_t>(1, (points_.size() + most - 1) / most);
  std::vector<double> errors;
  for (std::size_t p = 0; p < points_.size(); p += step)
    if (const auto found = estimate(points_[p].x, p))
      // A time is proportional to 1 / share. So the estimated time divided by the measured time is the measured share
      // divided by the estimated share. `y` and `found` are the logarithms of these two shares.
      errors.push_back(std::abs(std::exp(points_[p].y - *found) - 1));
  if (errors.empty()) return {};
  return {errors.size(), median_of(errors), quantile_of(errors, 0.9)};
}

}  // namespace sluice
