// How a Python process talks with its helper (worker/main.cpp), which runs simulations for it.
//
// The helper's standard input is a socket, the control. A request is one message on it with two
// descriptors: a socket, the channel, on which the answer comes; and a memory file, whose content
// is a list of byte strings as base/parts.hpp has it.
// The first one says what is wanted, the second is the folder that paths are relative to, then:
//   run     plan text, name of the plan for messages or "", scenario text, command line
//   open    path of a trace
//   save    path, a recording, what is said beside its numbers (sim/study/answer) or ""
//   export  path, format, table or "", a recording
//
// On the channel the helper sends Messages: any number of progress, then one answer, which comes
// with a memory file: a recording (run/recording/recording.hpp), or the text of an error. A channel
// that ends without an answer is that of a helper that died. Whoever shuts its end of the channel
// down calls the run off.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_file.hpp"

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

using Memory = MemoryFile;

/// The parts (base/parts.hpp) in a memory file.
Memory packed(const std::vector<std::string_view>& parts);

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
