// Reads the key `memory` of a device: the memory, or the list of memories, that the device's compute units reach
// without a link. Each of them belongs to the device or to the platform.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "document/record.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// A memory of the platform as it is written in the document.
struct WrittenMemory {
  std::string name;  ///< the name of the memory in the platform
  const Value* keys = nullptr;
};

/// What memories_of() needs to know about the device.
struct MemoryUser {
  std::string device;        ///< the key of the device in the document, for messages
  std::int64_t threads = 0;  ///< 0 if not given
  /// Finds a memory of the platform. Throws InputError at the value if no memory has that name.
  std::function<WrittenMemory(const Value& name)> find;
  /// Whether each memory with a table `by_threads` gets the rates of the last row, whatever `threads` is.
  bool all_threads = false;
};

/// Returns the value of a memory's key `capacity` in bytes, or nothing if the memory is unlimited.
std::optional<std::int64_t> capacity_of(const Reader& memory);

/// Returns the record of a memory that belongs to one device.
const Record& device_memory_record();
/// Returns the record of a memory of the platform.
const Record& platform_memory_record();

/// Returns the memories in the order of the document. The first memory is the default. For the device's own memories,
/// DeviceMemory::pool is not yet complete: the reader of the platform must put the device's name before it. Until then,
/// it is "" for the default memory, and "_ddr" for a memory called ddr. Throws InputError.
std::vector<DeviceMemory> memories_of(const Value& written, const MemoryUser& user);

}  // namespace sluice
