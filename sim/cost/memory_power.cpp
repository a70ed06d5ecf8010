#include "cost/memory_power.hpp"

namespace sluice {

Field memory_power_field() {
  return {
      .name = "memory_power",
      .type = Type::number,
      .summary =
          "the share of the device's power above idle that an operator limited by memory takes if its joules were not "
          "measured; an operator limited by FLOP takes the whole power above idle",
      .default_text = "1",
      .maximum = 1};
}

void take_memory_power(Price& price, double by_memory_s, double share, const Device& device) {
  if (!(share < 1) || !(by_memory_s > 0)) return;
  price.joules += share * (device.busy_w - device.idle_w) * by_memory_s;
  price.joules_s += by_memory_s;
}

bool is_bound_by_memory(const Work& work, const Device& device, DType dtype) {
  const auto bandwidth = device.memory().bandwidth();
  if (!bandwidth || device.rate.count(dtype) == 0) return false;
  return work.bytes / *bandwidth > peak_seconds(work, device, dtype);
}

}  // namespace sluice
