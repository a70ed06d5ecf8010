#include "base/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace sluice {

namespace {

[[noreturn]] void fail(const std::string& what) {
  throw IoError(what + ": " + std::strerror(errno));
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  reset();
  number_ = other.release();
  return *this;
}

int Descriptor::release() {
  return std::exchange(number_, -1);
}

void Descriptor::reset() {
  if (number_ >= 0) ::close(release());
}

MemoryFile MemoryFile::of(Descriptor file) {
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) fail("cannot read the size of a memory file");
  MemoryFile memory;
  memory.size_ = static_cast<std::size_t>(status.st_size);
  if (memory.size_ == 0) return memory;
  void* const data = ::mmap(nullptr, memory.size_, PROT_READ, MAP_SHARED, file.get(), 0);
  if (data == MAP_FAILED) fail("cannot map a memory file");
  memory.data_ = static_cast<char*>(data);
  return memory;
}

MemoryFile MemoryFile::make(std::size_t size) {
  MemoryFile memory;
  memory.file_ = Descriptor(::memfd_create("sluice", MFD_CLOEXEC));
  if (!memory.file_) fail("cannot make a memory file");
  memory.size_ = size;
  if (size == 0) return memory;
  // All pages are reserved here. Without this call, there might be no memory for a page later, and a write to this page
  // would raise a signal.
  errno = ::posix_fallocate(memory.file_.get(), 0, static_cast<off_t>(size));
  if (errno != 0) fail("no memory for " + std::to_string(size) + " bytes");
  void* const data =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory.file_.get(), 0);
  if (data == MAP_FAILED) fail("cannot map a memory file");
  memory.data_ = static_cast<char*>(data);
  return memory;
}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept
    : file_(std::move(other.file_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MemoryFile& MemoryFile::operator=(MemoryFile&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MemoryFile::~MemoryFile() {
  if (data_) ::munmap(data_, size_);
}

}  // namespace sluice
