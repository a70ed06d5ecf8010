// Finds devices and memories by name, and the paths between them, and remembers what it found.
// Internal to Platform. Several threads may ask for paths.
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
  /// A copy starts empty, because the platform to which it belongs may be changed.
  PlatformLookup(const PlatformLookup&);
  PlatformLookup& operator=(const PlatformLookup&);

  static constexpr std::uint32_t nowhere = 0xFFFFFFFF;
  /// The number of the device; `nowhere` where no device has that name.
  std::uint32_t device(const Platform& platform, const std::string& name);
  /// Whether the name is that of a device, a memory of the platform, or a further memory of a
  /// device.
  bool has_node(const Platform& platform, const std::string& name);
  /// The memory of an existing node: the node itself, or the memory of the platform that a device
  /// uses.
  const std::string& memory_of(const Platform& platform, const std::string& name);
  /// Like Platform::path(), for existing nodes.
  const Path& path(const Platform& platform, const std::string& from, const std::string& to,
                   CopyMode mode);
  /// The number of links on the path with the fewest links; 0 when there is no path.
  std::size_t distance(const Platform& platform, const std::string& from, const std::string& to);

 private:
  struct Tables;
  Tables& tables(const Platform& platform);
  std::mutex mutex_;
  std::unique_ptr<Tables> tables_;
};

}  // namespace sluice
