// Metrics that say how many bytes were moved, over which links, and of which tensors.
#include "metrics/metric.hpp"

namespace sluice {

extern const Metric transferred_bytes_metric = {
    .name = "transferred_bytes",
    .unit = "byte",
    .summary = "Bytes of all transfers; a transfer counts once, even if it crosses several links.",
    .details =
        "A transfer over several links counts once. A tensor that is loaded twice counts twice. "
        "Bytes that computations read or write over links also count. Use this metric to compare "
        "how many bytes policies move.",
    .better = Metric::Better::lower,
    .value = [](const Totals& totals) { return SummaryValue::of(totals.sums().transferred_bytes); },
};

extern const Metric transferred_bytes_by_link_metric = {
    .name = "transferred_bytes_by_link",
    .unit = "byte",
    .summary = "Bytes that crossed the link.",
    .details =
        "A transfer over two links counts for both links. So the sum of the values may exceed "
        "transferred_bytes. Use this metric to find the link that carries the most bytes. "
        "The metric full_rate_s_by_link turns these bytes into seconds.",
    .value = [](const Totals& totals) { return by_link(totals.plan(), totals.sums().link_bytes); },
};

extern const Metric transferred_bytes_by_class_metric = {
    .name = "transferred_bytes_by_class",
    .unit = "byte",
    .summary = "Bytes that were moved, by tensor class.",
    .details =
        "The classes are the classes of the plan's tensors, such as weight, input and activation. "
        "Some bytes belong to no tensor. These bytes count only in transferred_bytes. Use this "
        "metric to see which tensors a policy moves most.",
    .value = [](const Totals& totals) { return by_class(totals.sums().class_bytes); },
};

}  // namespace sluice
