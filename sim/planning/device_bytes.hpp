// Numbers of bytes of the devices that take turns: their capacities, their peaks, or the limits of their memories.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sluice {

/// One number of bytes for each device. The default order is only for sorting: within() compares device by device.
class DeviceBytes {
 public:
  /// The same number for every device, however many there are.
  DeviceBytes(std::int64_t each = 0) : greatest_(each) {}
  /// The numbers of the devices, at least one.
  explicit DeviceBytes(std::vector<std::int64_t> own)
      : greatest_(std::ranges::max(own)), own_(std::move(own)) {
    if (std::ranges::min(own_) == greatest_) own_.clear();
  }

  std::int64_t operator[](std::size_t device) const {
    return own_.empty() ? greatest_ : own_[device];
  }
  std::int64_t greatest() const { return greatest_; }
  std::int64_t least() const { return own_.empty() ? greatest_ : std::ranges::min(own_); }
  /// Returns whether two devices have different numbers.
  bool differ() const { return !own_.empty(); }
  /// Returns whether no device has more bytes than `limits` says for it.
  bool within(const DeviceBytes& limits) const {
    if (!differ()) return greatest_ <= limits.least();
    for (std::size_t d = 0; d < own_.size(); ++d)
      if (own_[d] > limits[d]) return false;
    return true;
  }
  /// Returns the result of `change(bytes, device)` for each of the devices.
  template <class Change>
  DeviceBytes changed(std::size_t devices, const Change& change) const {
    std::vector<std::int64_t> bytes(devices);
    for (std::size_t d = 0; d < devices; ++d) bytes[d] = change((*this)[d], d);
    return DeviceBytes(std::move(bytes));
  }
  auto operator<=>(const DeviceBytes&) const = default;

 private:
  std::int64_t greatest_;
  std::vector<std::int64_t>
      own_;  ///< indexed by device; empty if all devices have equally many bytes
};

}  // namespace sluice
