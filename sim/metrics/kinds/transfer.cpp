// Metrics of transfers. The metrics transfer_s… say how long transfers occupied their streams, including set-up. The
// metric full_rate_s_by_link says how long the bytes take if every link works at its full rate. The metric
// exposed_transfer_s says how long compute streams waited for transfers.
#include <vector>

#include "metrics/metric.hpp"

namespace sluice {
namespace {

/// Returns full_rate_s_by_link. If transfers share a link, transfer_s_by_link grows, but this metric does not.
SummaryValue full_rate(const Totals& totals) {
  std::vector<double> seconds = totals.sums().link_bytes;
  for (std::size_t l = 0; l < seconds.size(); ++l) seconds[l] /= totals.plan().links[l].bandwidth;
  return by_link(totals.plan(), seconds);
}

SummaryValue exposed(const Totals& totals) {
  double seconds = 0;
  for (const Totals::Stream& stream : totals.streams()) seconds += stream.exposed_s.value();
  return SummaryValue::of(seconds);
}

}  // namespace

extern const Metric transfer_s_metric = {
    .name = "transfer_s",
    .unit = "s",
    .summary = "Busy time of all transfers, from set-up to the last byte.",
    .details =
        "The metric adds up the seconds of all transfers. Two transfers that run for 1 s at the "
        "same time add 2 s. A transfer that shares a link takes longer than a transfer that has "
        "the link alone. Computation may hide transfers: exposed_transfer_s says how long "
        "computation waits for transfers.",
    .value = [](const Totals& totals) { return SummaryValue::of(totals.sums().transfer_s); },
};

extern const Metric transfer_s_by_link_metric = {
    .name = "transfer_s_by_link",
    .unit = "s",
    .summary =
        "Busy time of the transfers that cross the link. A transfer over two links counts for each of the two links. "
        "A flow of a computation counts with the time that it would take alone on its links.",
    .details =
        "If transfers use the link at the same moment, the time of each of them counts. So the value may exceed the "
        "makespan. Compare the value with full_rate_s_by_link to see how well the transfers use "
        "the link.",
    .value =
        [](const Totals& totals) { return by_link(totals.plan(), totals.sums().link_transfer_s); },
};

extern const Metric transfer_s_by_class_metric = {
    .name = "transfer_s_by_class",
    .unit = "s",
    .summary = "Busy time of the transfers of each tensor class.",
    .details =
        "The classes are the classes of the plan's tensors, such as weight, input and activation. "
        "A transfer that moves several tensors counts with its whole time for each of these "
        "tensors. Computations that read over links do not count. Use this metric to see for which "
        "tensors the copy engines work.",
    .value = [](const Totals& totals) { return by_class(totals.sums().class_transfer_s); },
};

extern const Metric full_rate_s_by_link_metric = {
    .name = "full_rate_s_by_link",
    .unit = "s",
    .summary =
        "Bytes that crossed the link / bandwidth of the link: the least time that these "
        "bytes take.",
    .details =
        "Compare the value with transfer_s_by_link, which may be greater for two reasons. First, "
        "set-ups take time. Second, a transfer is slower than the full rate of the link if it "
        "shares the link, or if another link limits it.",
    .better = Metric::Better::lower,
    .value = full_rate,
};

extern const Metric exposed_transfer_s_metric = {
    .name = "exposed_transfer_s",
    .unit = "s",
    .summary =
        "Time in which compute streams were idle, if a transfer was the last action for which they "
        "waited.",
    .details =
        "The value is the part of the transfer time that is not hidden behind computation. A faster link can shorten "
        "the run by about this time, until another resource is the limit.",
    .better = Metric::Better::lower,
    .value = exposed,
};

}  // namespace sluice
