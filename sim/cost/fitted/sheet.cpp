#include "cost/fitted/sheet.hpp"

#include "base/error.hpp"

namespace sluice {

Sheet sheet_of(const Device& device, DType dtype) {
  const auto require = [&](bool there, const std::string& what, const std::string& key) {
    if (!there)
      throw InputError("device '" + device.name + "' does not say " + what +
                       ", but the cost model 'fitted' needs this number: add " + key +
                       " to the device, or use the cost model roofline");
  };
  require(device.memory().bandwidth().has_value(), "its memory bandwidth",
          "memory: {bandwidth: …}");
  require(device.units > 0, "how many units compute side by side", "units: …");
  require(device.cache > 0, "the bytes of its last cache", "cache: …");
  return {.name = device.name,
          .units = static_cast<double>(device.units),
          .rate = device.flop_per_s(dtype),
          .bandwidth = *device.memory().bandwidth(),
          .cache = static_cast<double>(device.cache),
          .watts = device.busy_w};
}

}  // namespace sluice
