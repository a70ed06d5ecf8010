// roofline: an operator is bound by its FLOP or by the bytes that it moves in the device's memory.
#include <algorithm>

#include "cost/cost.hpp"

namespace sluice {
namespace {

double seconds(const Work& work, const Device& device, DType dtype) {
  if (work.flop == 0 && work.bytes == 0) return 0;  // an input: nothing is launched
  if (!device.memory_bandwidth)
    throw InputError("device '" + device.name +
                     "' has no memory bandwidth, which the roofline cost model needs (memory: "
                     "{bandwidth: 960GB/s})");
  const double computing =
      work.flop == 0 ? 0 : work.flop / (device.flop_per_s(dtype) * device.roofline.compute);
  const double moving = work.bytes / (*device.memory_bandwidth * device.roofline.memory);
  return std::max(computing, moving) + device.launch_overhead;
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
    .seconds = seconds,
};

}  // namespace sluice
