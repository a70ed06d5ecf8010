#include "base/part_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/error.hpp"

namespace sluice {

namespace {

[[noreturn]] void refuse(const std::string& target, const std::string& reason) {
  throw IoError("cannot write '" + target + "': " + reason);
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

void check_target(const std::string& target) {
  if (target.empty() || target.back() == '/')
    refuse(target, "the path ends without the name of a file");
  struct stat status {};
  if (stat(target.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) refuse(target, "it is a directory");
    if (!S_ISREG(status.st_mode)) refuse(target, "it is not a regular file");
  }
  const std::string folder = folder_of(target);
  if (stat(folder.c_str(), &status) != 0)
    refuse(target, "directory '" + folder + "': " + std::strerror(errno));
  if (!S_ISDIR(status.st_mode)) refuse(target, "'" + folder + "' is not a directory");
}

/// Returns whether `path` still names the open file `file`.
bool still_named(int file, const std::string& path) {
  struct stat open_one {
  }, named{};
  return fstat(file, &open_one) == 0 && stat(path.c_str(), &named) == 0 &&
         open_one.st_ino == named.st_ino && open_one.st_dev == named.st_dev;
}

}  // namespace

PartFile::PartFile(std::string target) : target_(std::move(target)), part_(target_ + ".part") {
  check_target(target_);
  // Delays signals until the file is locked and registered. When a signal ends the process, registered files are
  // removed.
  const InOrder in_order;
  while (true) {
    file_ = open(part_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file_ < 0) refuse(target_, "'" + part_ + "': " + std::strerror(errno));
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      const int reason = errno;
      close(file_);
      refuse(target_, "'" + part_ + "' is " +
                          (reason == EWOULDBLOCK ? "in use by another process"
                                                 : "not a file that can be locked: " +
                                                       std::string(std::strerror(reason))));
    }
    // Before the lock was granted, the previous holder of the lock may have renamed or removed the file.
    if (still_named(file_, part_)) break;
    close(file_);
  }
  there_ = true;
  removed_on_interrupt_.emplace(part_);
}

PartFile::~PartFile() {
  remove();
  if (file_ >= 0) close(file_);
}

void PartFile::remove() noexcept {
  if (std::exchange(there_, false)) unlink(part_.c_str());
  // This must be the last statement, so that a signal before unlink() still removes the file.
  removed_on_interrupt_.reset();
}

void PartFile::write(std::string_view text) {
  if (!std::exchange(emptied_, true) && ftruncate(file_, 0) != 0)
    refuse(target_, std::strerror(errno));
  while (!text.empty()) {
    const ssize_t written = ::write(file_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse(target_, std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void PartFile::commit() {
  // A signal does not end the process before the file has the name of the target or has been removed. Only a second
  // SIGINT ends it at once.
  const InOrder in_order;
  if (fsync(file_) != 0) refuse(target_, std::string("fsync: ") + std::strerror(errno));
  if (rename(part_.c_str(), target_.c_str()) != 0)
    refuse(target_, std::string("rename: ") + std::strerror(errno));
  there_ = false;
  removed_on_interrupt_.reset();
  close(std::exchange(file_, -1));  // releases the lock, so that readers may open the file
  // The new name survives a power failure only if the folder is synced, too. Some file systems cannot sync a folder.
  // This is not an error.
  const int folder = open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  fsync(folder);
  close(folder);
}

void write_file(const std::string& path, std::string_view text) {
  PartFile part(path);
  part.write(text);
  part.commit();
}

}  // namespace sluice
