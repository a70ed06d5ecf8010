// roofline: an operator is bound by its FLOP or by the bytes that it moves in the device's memory.
#include <algorithm>
#include <optional>

#include "cost/cost.hpp"

namespace sluice {
namespace {

/// Shares of the rates that operators reach: what the scenario says, or else what the device's
/// platform says.
struct Roofline final : Cost {
  std::optional<double> compute_efficiency, memory_efficiency;
  double memory_power;  ///< share of the power above idle that work bound by memory takes

  explicit Roofline(const Reader& keys)
      : compute_efficiency(given(keys, "compute_efficiency")),
        memory_efficiency(given(keys, "memory_efficiency")),
        memory_power(keys.number("memory_power")) {}

  Price of(const Query& query) const override {
    Price price{.flop = query.work.flop, .bytes = query.work.bytes};
    bool by_memory = false;
    price.seconds = seconds(query, by_memory);
    if (by_memory && memory_power < 1) {
      const Device& device = query.device;
      price.joules = memory_power * (device.busy_w - device.idle_w) * price.seconds;
      price.joules_s = price.seconds;
    }
    return price;
  }

  Shares shares(const Device& device) const override {
    return {.compute = compute_efficiency.value_or(device.roofline.compute),
            .memory = memory_efficiency.value_or(device.roofline.memory)};
  }

 private:
  static std::optional<double> given(const Reader& keys, const char* key) {
    return keys.has(key) ? std::optional(keys.number(key)) : std::nullopt;
  }

  double seconds(const Query& query, bool& by_memory) const {
    const Work& work = query.work;
    const Device& device = query.device;
    if (work.flop == 0 && work.bytes == 0) return 0;  // an input: nothing is launched
    if (!device.memory_bandwidth)
      throw InputError("device '" + device.name +
                       "' has no memory bandwidth, which the roofline cost model needs (memory: "
                       "{bandwidth: 960GB/s})");
    const Shares reached = shares(device);
    const double computing = peak_seconds(work, device, query.dtype) / *reached.compute;
    const double moving = work.bytes / *device.memory_bandwidth / *reached.memory;
    by_memory = moving > computing;
    return std::max(computing, moving) + device.launch_overhead;
  }
};

Field efficiency(const std::string& name, const std::string& summary) {
  return {.name = name,
          .type = Type::number,
          .summary = summary + "; absent: what the platform says under 'roofline'",
          .optional = true,
          .maximum = 1,
          .minimum_excluded = true};
}

}  // namespace

extern const CostModel roofline_cost = {
    .name = "roofline",
    .summary =
        "The longer of FLOP / rate and bytes / memory bandwidth, each divided by the share of it "
        "that the platform says is reached (roofline: {compute, memory}), plus the launch "
        "overhead, for each operator.",
    .source =
        "Williams, Waterman and Patterson, Roofline: an insightful visual performance model, "
        "CACM 52(4), 2009",
    .example = "sluice run alexnet_resident cost=roofline",
    .parameters = {efficiency("compute_efficiency",
                              "share of the device's rate that operators bound by it reach"),
                   efficiency("memory_efficiency",
                              "share of the memory bandwidth that operators bound by it reach"),
                   {.name = "memory_power",
                    .type = Type::number,
                    .summary = "share of the device's power above idle that operators bound by "
                               "memory take; those bound by FLOP take all of it",
                    .default_text = "1",
                    .maximum = 1}},
    .make = [](const Reader& keys, const std::string&) -> std::shared_ptr<const Cost> {
      return std::make_shared<const Roofline>(keys);
    },
};

}  // namespace sluice
