// Finds devices and memories by name, and paths between them. The object remembers all paths that it has found. Several
// threads may use it at the same time. Only Platform uses this class.
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
  /// A copy of this object remembers no paths, because it belongs to a copy of the platform, which may then be changed.
  PlatformLookup(const PlatformLookup&);
  PlatformLookup& operator=(const PlatformLookup&);

  static constexpr std::uint32_t nowhere = 0xFFFFFFFF;
  /// Returns the index of the device, or `nowhere` if no device has this name.
  std::uint32_t device(const Platform& platform, const std::string& name);
  /// Returns whether a device or a memory has this name.
  bool has_node(const Platform& platform, const std::string& name);
  /// Returns the memory that the name of a node stands for. For a device whose first memory is a memory of the
  /// platform, this is that memory. For any other node, it is the memory with the name of the node itself. The node
  /// must exist.
  const std::string& memory_of(const Platform& platform, const std::string& name);
  /// Does what Platform::path() does. Both nodes must exist.
  const Path& path(const Platform& platform, const std::string& from, const std::string& to,
                   CopyMode mode);
  /// Returns how many links the path with the fewest links has, or 0 if there is no path.
  std::size_t distance(const Platform& platform, const std::string& from, const std::string& to);

 private:
  struct Tables;
  Tables& tables(const Platform& platform);
  std::mutex mutex_;
  std::unique_ptr<Tables> tables_;
};

}  // namespace sluice
