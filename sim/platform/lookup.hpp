// What a platform's names lead to, found once: devices and memories by name, and the paths between
// them. Internal to Platform. Paths may be asked for from several threads.
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
  /// A copy begins with nothing: what it belongs to may be changed.
  PlatformLookup(const PlatformLookup&);
  PlatformLookup& operator=(const PlatformLookup&);

  static constexpr std::uint32_t nowhere = 0xFFFFFFFF;
  /// Number of the device; `nowhere`: there is none of that name.
  std::uint32_t device(const Platform& platform, const std::string& name);
  /// A device, a memory of the platform, or a further memory of a device.
  bool has_node(const Platform& platform, const std::string& name);
  /// The memory of a node that exists: itself, or the memory of the platform that a device is at.
  const std::string& memory_of(const Platform& platform, const std::string& name);
  /// As Platform::path(), for nodes that exist.
  const Path& path(const Platform& platform, const std::string& from, const std::string& to,
                   CopyMode mode);
  /// Links on the way with the fewest; 0 when there is none.
  std::size_t distance(const Platform& platform, const std::string& from, const std::string& to);

 private:
  struct Tables;
  Tables& tables(const Platform& platform);
  std::mutex mutex_;
  std::unique_ptr<Tables> tables_;
};

}  // namespace sluice
