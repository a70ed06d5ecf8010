// Metrics that say how much was computed, in total and per transferred byte.
#include "metrics/metric.hpp"

namespace sluice {
namespace {

SummaryValue intensity(const Totals& totals) {
  if (totals.sums().transferred_bytes == 0) return SummaryValue::none("nothing was transferred");
  return SummaryValue::of(totals.sums().flop / totals.sums().transferred_bytes);
}

}  // namespace

extern const Metric flop_metric = {
    .name = "flop",
    .unit = "FLOP",
    .summary =
        "The floating-point operations of all executed actions; 1 multiply-accumulate counts as 2.",
    .details =
        "Recomputation also counts. So a step with recomputation has more FLOP than the passes of "
        "the model. The page of layers (docs/reference/layers.md) says how the FLOP of each type of "
        "layer are counted. To compare a run with the peak rate of a device, divide the value by "
        "makespan_s.",
    .value = [](const Totals& totals) { return SummaryValue::of(totals.sums().flop); },
};

extern const Metric arithmetic_intensity_metric = {
    .name = "arithmetic_intensity",
    .unit = "FLOP/byte",
    .summary =
        "FLOP / bytes of the transfers between memories; accesses to a single memory do not count.",
    .details =
        "The formula is flop / transferred_bytes. For one device behind one link, compare the value with "
        "(rate of the device) / (bandwidth of the link). Suppose that both work at their full rates. If the value "
        "is smaller than this quotient, the transfers take longer than the computation.",
    .source = "Williams et al., Roofline (2009), with transfers in place of DRAM traffic",
    .value = intensity,
};

}  // namespace sluice
