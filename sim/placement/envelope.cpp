#include "placement/envelope.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace sluice {
namespace {

/// Returns whether the line `low` (a KernelTime::Line) gives at most the seconds of the line `high`, whichever operands
/// are in slow memory.
bool nowhere_above(const KernelTime::Line& low, const KernelTime::Line& high) {
  double most = low.base - high.base;
  for (std::size_t o = 0; o < low.extra.size(); ++o)
    most += std::max(0.0, low.extra[o] - high.extra[o]);
  return most <= 0;
}

std::vector<KernelTime::Line> lines_that_count(const std::vector<KernelTime::Line>& lines) {
  std::vector<KernelTime::Line> left;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    bool counts = true;
    // If several lines are equal, only the first of them stays.
    for (std::size_t m = 0; m < lines.size() && counts; ++m)
      counts = m == l || !nowhere_above(lines[l], lines[m]) ||
               (l < m && nowhere_above(lines[m], lines[l]));
    if (counts) left.push_back(lines[l]);
  }
  return left;
}

}  // namespace

KernelEnvelope envelope_of(const PlacementProblem::Kernel& kernel) {
  KernelEnvelope envelope;
  const std::size_t count = kernel.operands.size();
  if (kernel.time.table.empty()) {
    envelope.lines = lines_that_count(kernel.time.lines);
    if (envelope.lines.size() == 1) return envelope;
    for (std::uint32_t o = 0; o < count; ++o)
      if (std::any_of(envelope.lines.begin(), envelope.lines.end(),
                      [o](const KernelTime::Line& line) { return line.extra[o] != 0; }))
        envelope.operands.push_back(o);
    if (envelope.operands.size() > KernelEnvelope::most_operands) return envelope;
  } else {
    envelope.operands.resize(count);
    std::iota(envelope.operands.begin(), envelope.operands.end(), 0U);
  }
  for (std::size_t set = 0; set < std::size_t{1} << envelope.operands.size(); ++set) {
    std::vector<char> slow(count, 0);
    for (std::size_t i = 0; i < envelope.operands.size(); ++i)
      slow[envelope.operands[i]] = (set >> i & 1U) != 0;
    envelope.sets.push_back(kernel.time.at(slow));
  }
  return envelope;
}

KernelTime::Line line_below(const KernelEnvelope& envelope, std::size_t count,
                            const std::vector<double>& charges) {
  KernelTime::Line line{std::numeric_limits<double>::infinity(), std::vector<double>(count, 0.0)};
  for (std::size_t i = 0; i < charges.size(); ++i) line.extra[envelope.operands[i]] = charges[i];
  for (std::size_t set = 0; set < envelope.sets.size(); ++set) {
    double base = envelope.sets[set];
    for (std::size_t i = 0; i < charges.size(); ++i)
      if ((set >> i & 1U) != 0) base -= charges[i];
    line.base = std::min(line.base, base);
  }
  return line;
}

KernelTime::Line mean_of(const std::vector<KernelTime::Line>& lines,
                         const std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  KernelTime::Line mean{0, std::vector<double>(lines.front().extra.size(), 0.0)};
  for (std::size_t l = 0; l < lines.size(); ++l) {
    mean.base += weights[l] / sum * lines[l].base;
    for (std::size_t o = 0; o < mean.extra.size(); ++o)
      mean.extra[o] += weights[l] / sum * lines[l].extra[o];
  }
  return mean;
}

}  // namespace sluice
