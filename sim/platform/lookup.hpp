// Finds devices and memories by name, and the paths between them, and remembers the paths that have been found. Only
// Platform uses this class. Several threads may ask for paths at the same time.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace sluice {

enum class CopyMode : std::uint8_t;
struct Path;
struct Platform;

class PlatformLookup {
 public:
  PlatformLookup();
  ~PlatformLookup();
  /// A copy of this object remembers no paths: the platform of the copy may be changed afterwards.
  PlatformLookup(const PlatformLookup&);
  PlatformLookup& operator=(const PlatformLookup&);

  static constexpr std::uint32_t nowhere = 0xFFFFFFFF;
  /// Returns the number of the device. If no device has this name, returns `nowhere`.
  std::uint32_t device(const Platform& platform, const std::string& name);
  /// Returns whether a device or a memory has this name.
  bool has_node(const Platform& platform, const std::string& name);
  /// Returns the memory of an existing node. A device may use a memory of the platform. For such a device, returns this
  /// memory. For all other nodes, returns the node itself.
  const std::string& memory_of(const Platform& platform, const std::string& name);
  /// Does what Platform::path() does. Both nodes must exist.
  const Path& path(const Platform& platform, const std::string& from, const std::string& to,
                   CopyMode mode);
  /// Returns the number of links on the path with the fewest links. If there is no path, returns 0.
  std::size_t distance(const Platform& platform, const std::string& from, const std::string& to);

 private:
  struct Tables;
  Tables& tables(const Platform& platform);
  std::mutex mutex_;
  std::unique_ptr<Tables> tables_;
};

}  // namespace sluice
