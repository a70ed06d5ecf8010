// Metrics of memory: the most bytes in each pool at one moment, these bytes by tensor class, and the bytes above the
// capacity.
#include <algorithm>
#include <utility>
#include <vector>

#include "metrics/metric.hpp"

namespace sluice {
namespace {

SummaryValue peak(const Totals& totals) {
  std::vector<SummaryValue::Keyed> keyed;
  for (std::size_t p = 0; p < totals.plan().pools.size(); ++p)
    keyed.push_back(
        {{totals.plan().pools[p].name}, static_cast<double>(totals.pools()[p].peak_bytes)});
  return SummaryValue::of(std::move(keyed));
}

/// Returns the bytes of each class at the first moment of the pool's peak. These bytes add up to the peak.
SummaryValue by_class(const Totals& totals) {
  std::vector<SummaryValue::Keyed> keyed;
  for (std::size_t p = 0; p < totals.plan().pools.size(); ++p)
    for (std::size_t c = 0; c < tensor_class_count; ++c)
      if (const std::int64_t bytes = totals.pools()[p].at_peak[c]; bytes != 0)
        keyed.push_back(
            {{totals.plan().pools[p].name, std::string(name_of(static_cast<TensorClass>(c)))},
             static_cast<double>(bytes)});
  return SummaryValue::of(std::move(keyed));
}

SummaryValue overflow(const Totals& totals) {
  std::vector<SummaryValue::Keyed> keyed;
  for (std::size_t p = 0; p < totals.plan().pools.size(); ++p) {
    const Pool& pool = totals.plan().pools[p];
    if (pool.enforced || !pool.capacity) continue;
    const std::int64_t over = totals.pools()[p].peak_bytes - *pool.capacity;
    keyed.push_back({{pool.name}, static_cast<double>(std::max<std::int64_t>(0, over))});
  }
  return SummaryValue::of(std::move(keyed));
}

}  // namespace

extern const Metric peak_bytes_metric = {
    .name = "peak_bytes",
    .unit = "byte",
    .summary = "The most bytes that the pool held at one moment.",
    .details =
        "The value counts the bytes that actions have allocated in the pool and not yet freed. It also counts the "
        "tensors whose home is the pool. Compare the value with the capacity of the memory to see how "
        "much room is left.",
    .better = Metric::Better::lower,
    .value = peak,
};

extern const Metric peak_bytes_by_class_metric = {
    .name = "peak_bytes_by_class",
    .unit = "byte",
    .summary = "The bytes that the pool held at the first moment of its peak, by tensor class.",
    .details =
        "The values of a pool add up to its peak_bytes. Use this metric to see what fills a "
        "memory. If weights fill it, use a policy under which the weights take turns. If "
        "activations fill it, use a smaller micro-batch or other fates.",
    .value = by_class,
};

extern const Metric overflow_bytes_metric = {
    .name = "overflow_bytes",
    .unit = "byte",
    .summary = "Bytes by which the peak exceeds a capacity that is known and was not enforced.",
    .details =
        "The value is 0 unless the scenario says that capacities are not enforced. A "
        "value above 0 says how much memory is missing.",
    .example = "sluice run alexnet_x200 policy=resident memory.capacity=unlimited --json",
    .better = Metric::Better::lower,
    .value = overflow,
};

}  // namespace sluice
