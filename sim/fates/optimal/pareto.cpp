#include "fates/optimal/pareto.hpp"

#include <limits>

namespace sluice {
namespace {

/// Marks the points that are best at one of these prices of a byte (falling seconds a byte): those
/// that a larger segment needs to be best at that price.
void mark_best(const ParetoNodes& nodes, const std::vector<double>& prices,
               std::vector<bool>& stays) {
  std::vector<std::size_t> hull;  // the lower convex hull
  const auto slope = [&nodes](std::size_t a, std::size_t b) {
    return (nodes[a].seconds - nodes[b].seconds) /
           static_cast<double>(nodes[b].peak - nodes[a].peak);
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    while (hull.size() > 1 && slope(hull[hull.size() - 2], hull.back()) <= slope(hull.back(), i))
      hull.pop_back();
    hull.push_back(i);
  }
  std::size_t at = 0;
  for (const double price : prices) {
    while (at + 1 < hull.size() && slope(hull[at], hull[at + 1]) > price) ++at;
    stays[hull[at]] = true;
  }
}

/// Those that are marked or faster than the one kept before by a factor; returns how many.
std::size_t select(const ParetoNodes& nodes, const std::vector<bool>& stays, double factor,
                   ParetoNodes* kept) {
  std::size_t count = 0;
  double limit = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].seconds > limit && !stays[i]) continue;
    ++count;
    if (kept != nullptr) kept->push_back(nodes[i]);
    limit = nodes[i].seconds * factor;
  }
  return count;
}

}  // namespace

void merge(ParetoNodes& nodes, const ParetoNodes& added, ParetoNodes& scratch) {
  scratch.clear();
  auto a = nodes.begin();
  auto b = added.begin();
  while (a != nodes.end() || b != added.end()) {
    const bool takes_a =
        b == added.end() ||
        (a != nodes.end() && (a->peak != b->peak ? a->peak < b->peak : a->seconds <= b->seconds));
    const auto& next = takes_a ? *a++ : *b++;
    if (scratch.empty() || is_faster(next.seconds, scratch.back().seconds)) scratch.push_back(next);
  }
  nodes.swap(scratch);
}

void thin(ParetoNodes& nodes, std::size_t cap, const std::vector<double>& prices,
          ParetoNodes& scratch) {
  std::vector<bool> stays(nodes.size());
  stays.front() = stays.back() = true;
  mark_best(nodes, prices, stays);
  double low = nodes.back().seconds / nodes.front().seconds, high = 1;  // of the factor
  for (int i = 0; i < 30; ++i) {
    const double middle = (low + high) / 2;
    (select(nodes, stays, middle, nullptr) <= cap ? low : high) = middle;
  }
  scratch.clear();
  select(nodes, stays, low, &scratch);
  nodes.swap(scratch);
}

}  // namespace sluice
