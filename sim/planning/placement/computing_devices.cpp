#include "planning/placement/computing_devices.hpp"

#include <algorithm>

#include "planning/placement/backing.hpp"

namespace sluice {

std::vector<std::string> each_once(const std::vector<std::string>& devices) {
  std::vector<std::string> all;
  for (const std::string& device : devices)
    if (std::ranges::count(all, device) == 0) all.push_back(device);
  return all;
}

std::string why_no_second(const Platform& platform, const ComputingDevices& devices) {
  for (const std::string& name : devices.names) {
    if (std::string why = why_no_backing(platform, name); !why.empty()) return why;
    const auto& memories = platform.device(name).memories;
    for (const std::string& other : devices.names) {
      const auto& others = platform.device(other).memories;
      if (others.size() > 1 && others[0].pool == memories[0].pool &&
          others[1].pool != memories[1].pool)
        return "devices '" + name + "' and '" + other + "' have the same first memory '" +
               memories[0].pool + "', but not the same second memory";
    }
  }
  return "";
}

std::string why_no_common_home(const Platform& platform, const ComputingDevices& devices) {
  if (std::string why = why_no_second(platform, devices); !why.empty()) return why;
  const std::string &first = devices.names.front(), &home = platform.device(first).memories[1].pool;
  for (const std::string& other : devices.names)
    if (platform.device(other).memories[1].pool != home)
      return "devices '" + first + "' and '" + other +
             "' take turns, and they have different second memories, but all weights need a common home: "
             "give all devices the same second memory";
  return "";
}

}  // namespace sluice
