// The memories that a device's compute units reach without a link, from what its key `memory` says:
// one of its own, a memory of the platform, or a list of these.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "document/record.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// A memory of the platform as it is written, found by the name that a device has for it.
struct WrittenMemory {
  std::string name;  ///< in the platform
  const Value* keys = nullptr;
};

/// A device as its memories see it.
struct MemoryUser {
  std::string device;        ///< its key, for messages
  std::int64_t threads = 0;  ///< 0: not said
  /// Throws InputError at the value: no memory of the platform is called so.
  std::function<WrittenMemory(const Value& name)> find;
};

/// Bytes of a memory, as its key `capacity` says; none: unlimited.
std::optional<std::int64_t> capacity_of(const Reader& memory);

/// The record of one memory of a device's own.
const Record& device_memory_record();
/// The record of a memory of the platform.
const Record& platform_memory_record();

/// In the order that is written, the first being the default. The pool of an own one is what is
/// added to the device's name: nothing for the default, "_ddr" for one called ddr. Throws
/// InputError.
std::vector<DeviceMemory> memories_of(const Value& written, const MemoryUser& user);

}  // namespace sluice
