// Many equal devices are one row: gpu0..gpu3.
#pragma once

#include <string>
#include <vector>

#include "command/table.hpp"

namespace sluice {

/// Rows that differ in nothing but the device that they name, one of `devices` and the next ones in
/// that order, become one row, which names the first and the last: "gpu0.host.down: 2 GB" and
/// "gpu1.host.down: 2 GB" become "gpu0..gpu1.host.down: 2 GB". A row without a label belongs to the
/// label above it.
LabelledRows grouped_by_device(const LabelledRows& rows, const std::vector<std::string>& devices);

/// Texts that differ in their device alone: the text with the devices' names, and the numbers of
/// those that it stands for.
struct DeviceGroup {
  std::string text;
  std::vector<std::size_t> members;
};
std::vector<DeviceGroup> groups_by_device(const std::vector<std::string>& texts,
                                          const std::vector<std::string>& devices);

}  // namespace sluice
