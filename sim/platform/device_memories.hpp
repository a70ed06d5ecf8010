// The memories that a device's compute units reach without a link, as its key `memory` lists them:
// a memory of its own, a memory of the platform, or a list of these.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "document/record.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// A memory of the platform in the document, found by the name by which a device refers to it.
struct WrittenMemory {
  std::string name;  ///< its name in the platform
  const Value* keys = nullptr;
};

/// What reading a device's memories needs to know of the device.
struct MemoryUser {
  std::string device;        ///< its key, which messages name
  std::int64_t threads = 0;  ///< 0: not given
  /// Finds a memory of the platform. Throws InputError at the value where no memory has that name.
  std::function<WrittenMemory(const Value& name)> find;
};

/// The bytes of a memory that its key `capacity` gives; none: unlimited.
std::optional<std::int64_t> capacity_of(const Reader& memory);

/// The record of a memory that belongs to one device.
const Record& device_memory_record();
/// The record of a memory of the platform.
const Record& platform_memory_record();

/// The memories in the order in which they are written; the first is the default. For the device's
/// own memories `pool` is only the ending that is added to the device's name: nothing for the
/// default, "_ddr" for a memory called ddr. Throws InputError.
std::vector<DeviceMemory> memories_of(const Value& written, const MemoryUser& user);

}  // namespace sluice
