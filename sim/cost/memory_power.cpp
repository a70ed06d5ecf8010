#include "cost/memory_power.hpp"

#include "document/key.hpp"

namespace sluice {

Field memory_power_field() {
  return Key::number(
             "memory_power",
             "for operators without measured joules: operators limited by memory take this share of the device's power "
             "above idle, and operators limited by FLOP take all of it")
      .by_default("1")
      .at_most(1);
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
