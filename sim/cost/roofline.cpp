// roofline: an operator is bound by its FLOP or by the bytes that it moves in the device's memory.
#include <algorithm>

#include "cost/cost.hpp"

namespace sluice {
namespace {

struct Roofline final : Cost {
  double compute_efficiency, memory_efficiency;  ///< shares of the rates that operators reach

  explicit Roofline(const Reader& keys)
      : compute_efficiency(keys.number("compute_efficiency")),
        memory_efficiency(keys.number("memory_efficiency")) {}

  Price of(const Query& query) const override {
    return {.seconds = seconds(query), .flop = query.work.flop, .bytes = query.work.bytes};
  }

 private:
  double seconds(const Query& query) const {
    const Work& work = query.work;
    const Device& device = query.device;
    if (work.flop == 0 && work.bytes == 0) return 0;  // an input: nothing is launched
    if (!device.memory_bandwidth)
      throw InputError("device '" + device.name +
                       "' has no memory bandwidth, which the roofline cost model needs (memory: "
                       "{bandwidth: 960GB/s})");
    const double computing = peak_seconds(work, device, query.dtype) / compute_efficiency;
    const double moving = work.bytes / *device.memory_bandwidth / memory_efficiency;
    return std::max(computing, moving) + device.launch_overhead;
  }
};

Field efficiency(const std::string& name, const std::string& summary) {
  return {.name = name,
          .type = Type::number,
          .summary = summary,
          .default_text = "1",
          .maximum = 1,
          .minimum_excluded = true};
}

}  // namespace

extern const CostModel roofline_cost = {
    .name = "roofline",
    .summary =
        "The longer of FLOP / rate and bytes / memory bandwidth, plus the launch overhead, "
        "for each operator.",
    .source =
        "Williams, Waterman and Patterson, Roofline: an insightful visual performance model, "
        "CACM 52(4), 2009",
    .parameters = {efficiency("compute_efficiency",
                              "share of the device's rate that operators bound by it reach"),
                   efficiency("memory_efficiency",
                              "share of the memory bandwidth that operators bound by it reach")},
    .make = [](const Reader& keys, const std::string&) -> std::shared_ptr<const Cost> {
      return std::make_shared<const Roofline>(keys);
    },
};

}  // namespace sluice
