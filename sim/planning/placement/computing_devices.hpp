// The devices that compute in a run, for placements of tensors in two memories of each device.
#pragma once

#include <string>
#include <vector>

#include "platform/platform.hpp"

namespace sluice {

struct ComputingDevices {
  std::vector<std::string> names;  ///< each device once
  bool overlap = true;             ///< whether transfers run during computation
};

/// Returns each of these devices once, in the order in which they first occur.
std::vector<std::string> each_once(const std::vector<std::string>& devices);

/// Returns why tensors cannot be placed in two memories of each of these devices. Returns an empty text if they can.
std::string why_no_second(const Platform& platform, const ComputingDevices& devices);

/// Returns why no second memory can be the home of the tensors that take turns on these devices. Returns an empty text
/// if one can: then all devices have the same second memory.
std::string why_no_common_home(const Platform& platform, const ComputingDevices& devices);

}  // namespace sluice
