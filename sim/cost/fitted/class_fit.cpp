#include "cost/fitted/class_fit.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

constexpr std::size_t neighbours = 8;
/// A place has the natural logarithms of a kernel's five sizes. A measured place counts little for the correction of a
/// kernel's time if its distance from the kernel's place exceeds `reach`.
constexpr double reach = 0.5;
/// At each measured place near a kernel's place, the measured time is divided by the time of the form (form.hpp). The
/// logarithm of the kernel's correction is an average of the logarithms of these ratios. One more value is in this
/// average: 0, with the weight `trust_in_form`. So at a place that is far from all measured places, the
/// time is that of the form.
constexpr double trust_in_form = 0.05;
/// A number farther than `odd` from the robust mean of middle_of() counts little in this mean.
constexpr double odd = 0.05;
constexpr int rounds = 6;  ///< how often the robust mean is computed again with new weights

double squared_distance(const Place& a, const Place& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/// Returns a robust mean of numbers. Each pair holds a weight and a number. The further a number is
/// from the mean, the less it counts. So no single outlier decides the result.
double middle_of(const std::vector<std::pair<double, double>>& numbers) {
  double middle = 0;
  for (int round = 0; round < rounds; ++round) {
    double weights = 0, sum = 0;
    for (const auto& [weight, number] : numbers) {
      const double off = round == 0 ? 0 : (number - middle) / odd;
      const double counted = weight / std::sqrt(1 + off * off);
      weights += counted;
      sum += counted * number;
    }
    middle = sum / weights;
  }
  return middle;
}

}  // namespace

double Surface::correction(const Place& place) const {
  std::vector<std::pair<double, double>> near;  // pairs of a squared distance and a deviation
  near.reserve(left.size());
  for (const auto& [there, over] : left) near.emplace_back(squared_distance(place, there), over);
  const std::size_t count = std::min(neighbours, near.size());
  std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(count), near.end());
  near.resize(count);
  for (auto& [distance, over] : near)
    // The squared distance of each place is replaced by the weight of the place.
    distance = std::exp(-0.5 * distance / (reach * reach));
  near.emplace_back(trust_in_form, 0);
  return std::exp(middle_of(near));
}

double ClassFit::seconds_of(const Kernel& kernel, const Sheet& sheet) const {
  return sluice::seconds_of(kernel, sheet, seconds.parameters) * seconds.correction(kernel.place());
}

double ClassFit::joules_of(const Kernel& kernel, double took) const {
  return sluice::joules_of(kernel, took, joules->parameters) * joules->correction(kernel.place());
}

bool ClassFit::covers(const Kernel& kernel) const {
  // The ends of the range are widened a little, because a document holds these ends with only six digits.
  constexpr double slack = 1e-5;
  const Place place = kernel.place();
  for (std::size_t i = 0; i < place.size(); ++i)
    if (place[i] < least[i] - slack || place[i] > most[i] + slack) return false;
  return true;
}

}  // namespace sluice
