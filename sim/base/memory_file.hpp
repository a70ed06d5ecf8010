// Memory that processes share. The memory is a file without a name: one process creates the file, and another process
// maps it.
#pragma once

#include <cstddef>
#include <string_view>

namespace sluice {

/// A file descriptor. The file is closed by the destructor.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }
  int get() const { return number_; }
  int release();
  void reset();
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

/// A memory file that is mapped. `of` maps the given file for reading. `make` creates a file of the given size for
/// writing. Both functions throw IoError.
class MemoryFile {
 public:
  static MemoryFile of(Descriptor file);
  static MemoryFile make(std::size_t size);
  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile& operator=(MemoryFile&& other) noexcept;
  ~MemoryFile();

  char* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::string_view view() const { return {data_, size_}; }
  const Descriptor& file() const { return file_; }  ///< the file, set only if make() created it

 private:
  MemoryFile() = default;
  Descriptor file_;
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace sluice
