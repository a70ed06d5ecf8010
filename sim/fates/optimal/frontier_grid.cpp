#include "fates/optimal/frontier_grid.hpp"

#include <algorithm>

namespace sluice {

std::vector<double> turning_prices(const Chain& chain, double copy_price, std::size_t count) {
  std::vector<double> ratios;
  const auto consider = [&ratios](double seconds, std::int64_t bytes) {
    if (bytes > 0) ratios.push_back(seconds / static_cast<double>(bytes));
  };
  const auto copies = [copy_price](const ChainTensor& tensor) {
    return copy_price * (tensor.save_s + tensor.load_s);
  };
  for (const ChainStage& stage : chain.stages) {
    consider(stage.forward_s, stage.inner.bytes);
    consider(stage.forward_s, stage.inner.bytes + stage.output.bytes);
    consider(copies(stage.inner), stage.inner.bytes);
    consider(copies(stage.output), stage.output.bytes);
  }
  std::sort(ratios.rbegin(), ratios.rend());
  std::vector<double> prices;
  count = std::min(count, ratios.size());
  for (std::size_t i = 0; i < count; ++i) {
    // A ratio is the seconds that a choice costs, divided by the bytes that it frees. If a price were equal to a ratio,
    // two choices would cost the same, and rounding would decide between them. At a price between two ratios, a single
    // choice is the cheapest.
    const std::size_t at = i * ratios.size() / count;
    prices.push_back(at + 1 < ratios.size() ? (ratios[at] + ratios[at + 1]) / 2 : ratios[at] / 2);
  }
  return prices;
}

std::vector<bool> spread_splits(const Chain& chain, std::size_t count) {
  const std::size_t n = chain.stages.size();
  std::vector<bool> split(n + 1, n <= count);
  split[n] = true;
  if (n <= count) return split;
  double seconds = 0, bytes = 0;
  const auto bytes_of = [](const ChainStage& stage) {
    return static_cast<double>(stage.output.bytes + stage.inner.bytes);
  };
  for (const ChainStage& stage : chain.stages) {
    seconds += stage.forward_s;
    bytes += bytes_of(stage);
  }
  // The part of the chain before boundary s + 1 has a share of all stages, of their seconds and of their bytes. This is
  // the mean of the three shares.
  double share = 0;
  std::size_t marked = 0;
  for (std::size_t s = 0; s < n; ++s) {
    const ChainStage& stage = chain.stages[s];
    share += (1.0 / static_cast<double>(n) + (seconds > 0 ? stage.forward_s / seconds : 0) +
              (bytes > 0 ? bytes_of(stage) / bytes : 0)) /
             3;
    if (share * static_cast<double>(count) < static_cast<double>(marked + 1)) continue;
    split[s + 1] = true;
    ++marked;
  }
  return split;
}

}  // namespace sluice
