#include "fates/optimal/pareto.hpp"

#include <algorithm>
#include <limits>

namespace sluice {
namespace {

/// Marks the points that are best at one of the prices. The prices are in seconds per byte, in falling order. At a
/// price, the cost of a point is its seconds plus its bytes x the price, and the best point has the lowest cost. If a
/// schedule of a larger segment is best at a price, the schedules of its parts are best at this price, too.
void mark_best(const ParetoNodes& nodes, const std::vector<double>& prices,
               std::vector<std::uint8_t>& stays) {
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
    stays[hull[at]] = 1;
  }
}

/// The factors for which select() calls `use` for the same points: from `from` on, and below `to`.
struct SameFactors {
  double from = 0, to = std::numeric_limits<double>::infinity();
};

/// Calls use(point) for each marked point. Also calls it for any other point whose seconds are at most `factor` x the
/// seconds of the last point for which it was called. Ends when it returns false. Before it decides about a point that
/// is not marked, calls compare(its seconds, the seconds of the last point).
template <typename Use, typename Compare>
void select(const ParetoNodes& nodes, const std::vector<std::uint8_t>& stays, double factor,
            const Use& use, const Compare& compare) {
  double last = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!stays[i]) {
      compare(nodes[i].seconds, last);
      if (nodes[i].seconds > last * factor) continue;
    }
    if (!use(nodes[i])) break;
    last = nodes[i].seconds;
  }
}

constexpr auto compare_nothing = [](double, double) {};

/// Returns a factor with which select() selects about `cap` points, but not more, unless more points are marked. The
/// greater the factor, the more points are selected. So the function halves a range of factors. It ends when the points
/// are known for each factor of the range: they are those of `low`, or more than `cap`.
double factor_for(std::size_t cap, const ParetoNodes& nodes,
                  const std::vector<std::uint8_t>& stays) {
  constexpr int quick_steps = 4;
  double low = nodes.back().seconds / nodes.front().seconds, high = 1;
  double low_to = low, high_from = high;
  for (int i = 0; i < 30 && low_to < high_from; ++i) {
    const double middle = (low + high) / 2;
    std::size_t count = 0;
    const auto counted = [&](const ParetoNode&) { return ++count <= cap; };
    if (i < quick_steps) {  // the range is still too wide to end here
      select(nodes, stays, middle, counted, compare_nothing);
      (count <= cap ? low : high) = middle;
      continue;
    }
    SameFactors same;
    select(nodes, stays, middle, counted, [&](double seconds, double last) {
      const double least = seconds / last;  // the least factor that selects the point
      if (seconds > last * middle)
        same.to = std::min(same.to, least);
      else
        same.from = std::max(same.from, least);
    });
    if (count <= cap)
      low = middle, low_to = same.to;
    else
      high = middle, high_from = same.from;
  }
  return low;
}

/// Visits the pairs of a split in the order of rising peaks. A pair has one point of each part.
class Pairs {
 public:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  Pairs(const ParetoSplit& split, double passing)
      : first_(split.first.data()),
        second_(split.second.data()),
        held_(split.held),
        passing_(passing),
        last_i_(static_cast<std::uint32_t>(split.first.size() - 1)),
        last_j_(static_cast<std::uint32_t>(split.second.size() - 1)) {}

  std::uint32_t i = 0, j = 0;  ///< the fastest points of both rows within the current peak

  std::int64_t least() const { return std::max(first_[0].peak + held_, second_[0].peak); }
  void advance(std::int64_t peak) {
    while (i < last_i_ && first_[i + 1].peak + held_ <= peak) ++i;
    while (j < last_j_ && second_[j + 1].peak <= peak) ++j;
  }
  double seconds() const { return seconds(i, j); }

  /// Returns the least peak above the current peak at which some pair is faster than the current
  /// pair.
  std::int64_t next() const { return next(i, j); }

  /// Returns a peak. No pair with a lower peak takes less than `than` seconds. Along both rows, the seconds fall. So if
  /// a pair is too slow, all pairs of earlier points are too slow, too.
  std::int64_t next_faster(double than) const {
    std::int64_t peak = next();
    for (std::uint32_t far = 2; peak != never; far *= 2) {
      const std::uint32_t a = std::min(i + far, last_i_), b = std::min(j + far, last_j_);
      if (is_faster(seconds(a, b), than)) break;
      peak = next(a, b);
    }
    return peak;
  }

 private:
  double seconds(std::uint32_t a, std::uint32_t b) const {
    return passing_ + first_[a].seconds + second_[b].seconds;
  }
  std::int64_t next(std::uint32_t a, std::uint32_t b) const {
    return std::min(a < last_i_ ? first_[a + 1].peak + held_ : never,
                    b < last_j_ ? second_[b + 1].peak : never);
  }

  const ParetoNode* first_;
  const ParetoNode* second_;
  std::int64_t held_;
  double passing_;
  std::uint32_t last_i_, last_j_;
};

}  // namespace

void join(ParetoNode node, const ParetoSplit& split, const ParetoNodes& known, ParetoNodes& added) {
  Pairs pairs(split, node.seconds);
  node.peak = std::max(node.peak, pairs.least());
  const ParetoNode* const begin = known.data();
  const ParetoNode* const end = begin + known.size();
  // The first known node whose peak is greater than the peak of `node`.
  const ParetoNode* beyond = begin;
  while (node.peak != Pairs::never) {
    pairs.advance(node.peak);
    while (beyond != end && beyond->peak <= node.peak) ++beyond;
    node.seconds = pairs.seconds();
    if (beyond != begin && !is_faster(node.seconds, (beyond - 1)->seconds)) {
      node.peak = pairs.next_faster((beyond - 1)->seconds);
      continue;
    }
    node.first = pairs.i;
    node.second = pairs.j;
    added.push_back(node);
    node.peak = pairs.next();
  }
}

void merge(ParetoNodes& nodes, const ParetoNodes& added, ParetoNodes& scratch) {
  if (added.empty()) return;
  // Nodes before the first added node stay. Nodes after the last added node stay if they are faster than the last
  // added node.
  auto a =
      std::lower_bound(nodes.begin(), nodes.end(), added.front().peak,
                       [](const ParetoNode& node, std::int64_t peak) { return node.peak < peak; });
  scratch.resize(nodes.size() + added.size());
  ParetoNode* end = std::copy(nodes.begin(), a, scratch.data());
  const auto faster = [begin = scratch.data(), &end](const ParetoNode& node) {
    return end == begin || is_faster(node.seconds, (end - 1)->seconds);
  };
  for (const ParetoNode& node : added) {
    for (; a != nodes.end(); ++a) {
      if (a->peak != node.peak ? a->peak > node.peak : a->seconds > node.seconds) break;
      if (faster(*a)) *end++ = *a;
    }
    if (faster(node)) *end++ = node;
  }
  while (a != nodes.end() && !faster(*a)) ++a;
  end = std::copy(a, nodes.end(), end);
  scratch.resize(static_cast<std::size_t>(end - scratch.data()));
  nodes.swap(scratch);
}

void thin(ParetoNodes& nodes, std::size_t cap, const std::vector<double>& prices,
          ParetoNodes& scratch) {
  std::vector<std::uint8_t> stays(nodes.size());
  stays.front() = stays.back() = 1;
  mark_best(nodes, prices, stays);
  const double factor = factor_for(cap, nodes, stays);
  scratch.clear();
  const auto take = [&](const ParetoNode& node) {
    scratch.push_back(node);
    return true;
  };
  select(nodes, stays, factor, take, compare_nothing);
  nodes.swap(scratch);
}

}  // namespace sluice
