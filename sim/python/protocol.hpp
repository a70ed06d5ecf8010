// How a Python process talks with its helper (worker/main.cpp), which runs simulations for it.
//
// The helper's standard input is a socket, the control. A request is one message on it with two
// descriptors: a socket, the channel, on which the answer comes; and a memory file, whose content
// is a list of byte strings: their number, then length and bytes of each, the numbers 64 bits wide.
// The first one says what is wanted, the second is the folder that paths are relative to, then:
//   run     plan text, name of the plan for messages or "", scenario text, command line
//   open    path of a trace
//   save    path, a recording
//   export  path, format, table or "", a recording
//
// On the channel the helper sends Messages: any number of progress, then one answer, which comes
// with a memory file: a recording (recording.hpp), or the text of an error. A channel that ends
// without an answer is that of a helper that died. Whoever shuts its end of the channel down calls
// the run off.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::helper {

struct Message {
  enum class Kind : std::int64_t {
    progress,  ///< first: executed actions, second: all
    answer,    ///< first: exit code as on the command line, 0: it went well
    died,      ///< first: the signal that ended the process of this request
  };
  Kind kind = Kind::progress;
  std::int64_t first = 0, second = 0;
};

/// A descriptor that closes itself.
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

/// A memory file, mapped. `of`: for reading. `make`: of that size, for writing. Throws IoError.
class Memory {
 public:
  static Memory of(Descriptor file);
  static Memory make(std::size_t size);
  Memory(Memory&& other) noexcept;
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  char* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::string_view view() const { return {data_, size_}; }
  const Descriptor& file() const { return file_; }  ///< of one that was made

 private:
  Memory() = default;
  Descriptor file_;
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

Memory packed(const std::vector<std::string_view>& parts);
/// Views into `memory`. Throws InternalError when it is no such list.
std::vector<std::string_view> unpacked(const Memory& memory);

/// Sends bytes and descriptors as one message. False when the other side has gone, or, where it
/// shall not wait, has not read what was sent before. Throws IoError.
bool send(int socket, std::string_view bytes, const std::vector<int>& descriptors,
          bool wait = true);

struct Received {
  bool ended = false;  ///< the other side has gone
  std::size_t size = 0;
  std::vector<Descriptor> descriptors;
};
/// Receives one message of at most `size` bytes; waits for it. Throws IoError.
Received receive(int socket, void* bytes, std::size_t size);

}  // namespace sluice::helper
