// Joins rows of many equal devices into one row, such as gpu0..gpu3.
#pragma once

#include <string>
#include <vector>

#include "command/table.hpp"

namespace sluice {

/// Joins rows that differ only in the name of the device. Their devices must be consecutive in `devices`. The joined
/// row names the first and the last device. For example, "gpu0.host.down: 2 GB" and "gpu1.host.down: 2 GB" become
/// "gpu0..gpu1.host.down: 2 GB". A row without a label belongs to the nearest label above it.
LabelledRows grouped_by_device(const LabelledRows& rows, const std::vector<std::string>& devices);

/// A group of texts that differ only in their device. `text` has the names of the first and the last device, and
/// `members` are the indices of the joined texts.
struct DeviceGroup {
  std::string text;
  std::vector<std::size_t> members;
};
std::vector<DeviceGroup> groups_by_device(const std::vector<std::string>& texts,
                                          const std::vector<std::string>& devices);

}  // namespace sluice
