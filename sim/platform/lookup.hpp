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
  /// A copy of this object has no remembered paths, because the platform of the copy may be changed afterwards.
  PlatformLookup(const PlatformLookup&);
  PlatformLookup& operator=(const PlatformLookup&);

  static constexpr std::uint32_t nowhere = 0xFFFFFFFF;
  /// Returns the number of the device, or `nowhere` if no device has that name.
  std::uint32_t device(const Platform& platform, const std::string& name);
  /// Returns whether the name belongs to a device, to a memory of the platform, or to another memory of a device.
  bool has_node(const Platform& platform, const std::string& name);
  /// Returns the memory of an existing node. For a device that uses a memory of the platform, this
  /// is that memory. For all other nodes, it is the node itself.
  const std::string& memory_of(const Platform& platform, const std::string& name);
  /// Does what Platform::path() does. Both nodes must exist.
  const Path& path(const Platform& platform, const std::string& from, const std::string& to,
                   CopyMode mode);
  /// Returns the number of links on the path with the fewest links, or 0 if there is no path.
  std::size_t distance(const Platform& platform, const std::string& from, const std::string& to);

 private:
  struct Tables;
  Tables& tables(const Platform& platform);
  std::mutex mutex_;
  std::unique_ptr<Tables> tables_;
};

}  // namespace sluice
