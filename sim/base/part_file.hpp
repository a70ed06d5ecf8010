// A file that appears whole or not at all. The text is first written to the file TARGET.part in the target's folder.
// Then TARGET.part is synced (fsync) and renamed to TARGET. If a crash left a TARGET.part behind, that file is
// overwritten. If another process is writing TARGET.part, IoError is thrown.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/interrupt.hpp"

namespace sluice {

class PartFile {
 public:
  /// Makes TARGET.part and locks it (flock). Throws IoError in three cases: the folder is missing or read-only, the
  /// target is a folder or a device, or another process uses TARGET.part.
  explicit PartFile(std::string target);
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile();  ///< removes TARGET.part unless commit() has renamed it

  const std::string& target() const { return target_; }
  const std::string& path() const { return part_; }
  /// Appends to TARGET.part. The first call empties a TARGET.part that a crash left behind. Throws IoError.
  void write(std::string_view text);
  /// Throws IoError.
  void commit();
  void remove() noexcept;

 private:
  std::string target_, part_;
  int file_ = -1;  ///< descriptor of TARGET.part, which holds the lock
  std::optional<RemovedOnInterrupt> removed_on_interrupt_;
  bool there_ = false;
  bool emptied_ = false;
};

/// Writes the file `path` whole or not at all. Throws IoError as PartFile does.
void write_file(const std::string& path, std::string_view text);

}  // namespace sluice
