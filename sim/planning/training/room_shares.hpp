// Says how a room of bytes for early loads is shared out to devices that take turns. The number of a room is the bytes
// of the device that gets the most.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "planning/device_bytes.hpp"
#include "planning/training/training.hpp"

namespace sluice {

class RoomShares {
 public:
  /// Every device gets all bytes of a room.
  RoomShares() = default;
  /// The device with the greatest peak gets all bytes of a room. Each other device gets fewer bytes, by the difference
  /// of the two peaks. So the smallest room in which a step fits has just the peak of each device.
  RoomShares(const DeviceBytes& peaks, std::size_t devices)
      : devices_(devices), less_(peaks.changed(devices, [&](std::int64_t peak, std::size_t) {
          return peaks.greatest() - peak;
        })) {}

  DeviceBytes of(std::int64_t room) const {
    if (!less_.differ() || room == no_limit) return room;
    return less_.changed(devices_, [&](std::int64_t less, std::size_t) { return room - less; });
  }
  /// Returns the smallest room in which each device has at least these bytes.
  std::int64_t smallest_with(const DeviceBytes& bytes) const {
    std::int64_t room = bytes[0] + less_[0];
    for (std::size_t d = 1; d < devices_; ++d) room = std::max(room, bytes[d] + less_[d]);
    return less_.differ() ? room : bytes.greatest();
  }
  /// Returns the greatest room within these limits.
  std::int64_t greatest_within(const DeviceBytes& limits) const {
    std::int64_t room = less_.differ() ? no_limit : limits.least();
    for (std::size_t d = 0; less_.differ() && d < devices_; ++d)
      room = std::min(room, limits[d] < no_limit ? limits[d] + less_[d] : no_limit);
    return room;
  }

 private:
  std::size_t devices_ = 1;
  DeviceBytes less_;  ///< how many bytes less than the room each device gets
};

}  // namespace sluice
