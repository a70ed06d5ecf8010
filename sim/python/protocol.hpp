// The protocol between a Python process and its helper (worker/main.cpp), which runs simulations
// for it.
//
// The helper's standard input is a socket, called the control. A request is one message on the control with two
// descriptors. The first descriptor is a socket, called the channel, on which the answer is sent. The second descriptor
// is a memory file with a list of byte strings (base/parts.hpp). The first string names the request. The second string
// is the folder to which paths are relative. The further strings depend on the request:
//   run     plan text, name of the plan for messages or "", scenario text, command line
//   open    path of a trace
//   save    path, a recording, what the answer says besides its numbers (sim/study/answer) or ""
//   export  path, format, table or "", a recording
//
// On the channel the helper sends Messages: any number of progress messages, then one answer. The
// answer comes with a memory file: a recording (run/recording/recording.hpp), or the text of an
// error. If a channel ends without an answer, the helper has died. The caller cancels a run by
// shutting down its end of the channel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_file.hpp"

namespace sluice::helper {

struct Message {
  enum class Kind : std::int64_t {
    progress,  ///< the first number is the executed actions, the second is all actions
    answer,    ///< the first number is the exit code, as on the command line; 0 is success
    died,      ///< the first number is the signal that ended the process of this request
  };
  Kind kind = Kind::progress;
  std::int64_t first = 0, second = 0;
};

using Memory = MemoryFile;

/// Packs the parts (base/parts.hpp) into a memory file.
Memory packed(const std::vector<std::string_view>& parts);

/// Sends bytes and descriptors as one message, and returns true. Returns false if the other side has closed the socket.
/// Without `wait`, also returns false if the socket is full because the other side has not read the earlier messages.
/// Throws IoError on any other failure.
bool send(int socket, std::string_view bytes, const std::vector<int>& descriptors,
          bool wait = true);

struct Received {
  bool ended = false;  ///< the other side has closed the socket
  std::size_t size = 0;
  std::vector<Descriptor> descriptors;
};
/// Waits for one message of at most `size` bytes, and returns it. Throws IoError.
Received receive(int socket, void* bytes, std::size_t size);

}  // namespace sluice::helper
