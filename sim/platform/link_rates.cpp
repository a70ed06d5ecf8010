#include "platform/link_rates.hpp"

#include "base/error.hpp"

namespace sluice {
namespace {

/// Replaces the rates of a direction by those that `keys` gives. The key `share` gives a bandwidth as a share of
/// `whole`, the bandwidth of the link.
void lay_over(LinkRates::Direction& direction, const Reader& keys, double whole) {
  const bool share = keys.map().find("share") != nullptr;
  if (share && keys.has("bandwidth"))
    keys.fail(
        "share",
        "'share' beside 'bandwidth': give either the bandwidth or a share of the link's bandwidth");
  if (keys.has("bandwidth")) direction.bandwidth = keys.quantity("bandwidth");
  if (share) direction.bandwidth = keys.number("share") * whole;
  if (keys.has("setup")) direction.setup_s = keys.quantity("setup");
}

/// Replaces the rates of both directions by those that `keys` gives. Then the keys under `down` and `up` replace the
/// rates of their own direction.
void lay_over(LinkRates& rates, const Reader& keys, const Record& record, double whole) {
  lay_over(rates.down, keys, whole);
  lay_over(rates.up, keys, whole);
  for (const char* name : {"down", "up"})
    if (const Value* value = keys.value(name)) {
      const Reader direction(*value, record_of(record, name),
                             "the direction " + std::string(name) + " of a link");
      lay_over(name == std::string("down") ? rates.down : rates.up, direction, whole);
    }
}

}  // namespace

LinkRates rates_of(const Reader& link, const Record& record) {
  LinkRates rates;
  const double whole = link.quantity("bandwidth");
  lay_over(rates, link, record, whole);
  rates.latency_s = link.quantity("latency");
  if (link.has("together")) rates.together = link.number("together") * whole;
  const Value* pageable = link.value("pageable");
  const bool is_pageable = link.text("copies") == "pageable";
  if (is_pageable && !pageable)
    link.fail(
        "copies",
        "'pageable' for 'copies': the link has no rate for copies of pageable memory; add this rate, "
        "such as pageable: {bandwidth: 6GB/s}");
  if (pageable) {
    const Record& keys = record_of(record, "pageable");
    const Reader reader(*pageable, keys, "the pageable copies of a link");
    LinkRates slower = rates;
    lay_over(slower, reader, keys, whole);
    if (is_pageable) rates = slower;
  }
  const auto by_direction = [](const Value& map) { return map.find("down") || map.find("up"); };
  if (const Value* written = link.value("synchronous")) {
    const Record& keys = record_of(record, "synchronous");
    const Reader reader(*written, keys, "the synchronous copies of a link");
    LinkRates by_compute = rates;
    // If no setup is given for synchronous copies, it is 0, because the compute units copy without a copy engine.
    by_compute.down.setup_s = by_compute.up.setup_s = 0;
    lay_over(by_compute, reader, keys, whole);
    rates.synchronous = {by_compute.down, by_compute.up};
  }
  const bool directed =
      by_direction(link.map()) || (pageable && by_direction(*pageable)) || link.has("together");
  if (link.text("duplex") == "half" && directed)
    link.fail(
        "duplex",
        "'half' for 'duplex': both directions share one bandwidth; remove 'down', 'up' and 'together'");
  return rates;
}

}  // namespace sluice
