// Metrics of energy. The energy is the idle power x the makespan, plus the energy that the work takes in addition. A
// link without watts is not counted. A device without watts is counted only if its actions have joules. If no watts and
// no joules are known, the energy has no value.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "metrics/metric.hpp"

namespace sluice {
namespace {

/// Returns the energy of each device, in the order of the devices' first streams in the plan. A stream without a device
/// counts as a device.
std::vector<SummaryValue::Keyed> devices(const Totals& totals) {
  std::vector<SummaryValue::Keyed> keyed;
  for (std::size_t s = 0; s < totals.plan().streams.size(); ++s) {
    const Stream& stream = totals.plan().streams[s];
    if (!stream.has_watts() && totals.sums().stream_joules[s] == 0) continue;
    const std::string& name = stream.device.empty() ? stream.name : stream.device;
    const double joules = stream.idle_w * totals.makespan() + totals.sums().stream_joules[s];
    auto found = std::find_if(keyed.begin(), keyed.end(),
                              [&](const auto& device) { return device.key.front() == name; });
    if (found == keyed.end())
      keyed.push_back({{name}, joules});
    else
      found->number += joules;
  }
  return keyed;
}

/// Returns the energy of each link for which watts are known. The power is the idle power, plus (busy - idle power) in
/// proportion to the utilisation of the link.
std::vector<SummaryValue::Keyed> links(const Totals& totals) {
  std::vector<SummaryValue::Keyed> keyed;
  for (std::size_t l = 0; l < totals.plan().links.size(); ++l) {
    const Link& link = totals.plan().links[l];
    if (!link.has_watts()) continue;
    const double full_s = totals.sums().link_bytes[l] / link.bandwidth;
    keyed.push_back(
        {{link.name}, link.idle_w * totals.makespan() + (link.busy_w - link.idle_w) * full_s});
  }
  return keyed;
}

SummaryValue energy(const Totals& totals) {
  std::vector<SummaryValue::Keyed> all = devices(totals);
  for (SummaryValue::Keyed& link : links(totals)) all.push_back(std::move(link));
  if (all.empty()) return SummaryValue::none("the platform gives no watts");
  double sum = 0;
  for (const SummaryValue::Keyed& one : all) sum += one.number;
  return SummaryValue::of(sum);
}
SummaryValue per_sample(const Totals& totals) {
  SummaryValue value = energy(totals);
  if (!value.absent.empty()) return value;
  if (totals.sums().samples == 0) return SummaryValue::none("no sample was completed");
  return SummaryValue::of(value.number / totals.sums().samples);
}

}  // namespace

extern const Metric energy_j_metric = {
    .name = "energy_j",
    .unit = "J",
    .summary = "Energy of all devices and links for which watts are known.",
    .details =
        "The value is the sum of energy_j_by_device and energy_j_by_link. A link without watts adds nothing. A "
        "device without watts adds only the joules of its actions, if the cost model knows them. Compare two runs only "
        "if both platforms give watts for the same devices and links. The metric has no value if neither watts nor "
        "joules are known.",
    .better = Metric::Better::lower,
    .value = energy,
};

extern const Metric energy_j_by_device_metric = {
    .name = "energy_j_by_device",
    .unit = "J",
    .summary =
        "The device's idle power times the makespan, plus the joules of the device's actions.",
    .details =
        "A device draws its idle power during the whole run. The joules of an action are the energy that its work "
        "takes in addition to the idle power. The cost model gives these joules. Use this metric to see which "
        "device takes the energy, and how much energy idle time costs.",
    .value = [](const Totals& totals) { return SummaryValue::of(devices(totals)); },
};

extern const Metric energy_j_by_link_metric = {
    .name = "energy_j_by_link",
    .unit = "J",
    .summary =
        "The idle power of the link x makespan, plus (busy - idle power) x bytes / bandwidth.",
    .details =
        "The power of a link rises from idle power to busy power in proportion to the used share "
        "of its bandwidth. So the energy depends on the makespan and on the bytes that crossed the "
        "link. The order of the transfers does not matter. A link has a value if the platform "
        "gives watts for it.",
    .example =
        "sluice run alexnet_resident platform.links.host.idle=5W platform.links.host.busy=10W --json",
    .value = [](const Totals& totals) { return SummaryValue::of(links(totals)); },
};

extern const Metric energy_per_sample_j_metric = {
    .name = "energy_per_sample_j",
    .unit = "J/sample",
    .summary = "Energy / samples.",
    .details =
        "The formula is energy_j / samples. Use this metric to compare runs with different numbers "
        "of samples. The energy of idle devices during the first loads and at the end of the run "
        "also counts. This energy is a larger share of a short run than of a long run.",
    .better = Metric::Better::lower,
    .value = per_sample,
};

}  // namespace sluice
