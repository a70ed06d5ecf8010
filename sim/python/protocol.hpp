// The protocol between a Python process and its helper (worker/main.cpp). The helper runs simulations for the Python
// process.
//
// The standard input of the helper is a socket, which is called the control. A request is one message on the control.
// This message carries two file descriptors. The first descriptor is a socket, which is called the channel: on it, the
// helper sends the answer to this request. The second descriptor is a memory file with a list of byte strings
// (base/packed_strings.hpp). The first string names the kind of the request. The second string is the folder to which
// the paths of the request are relative. The strings after these two depend on the request:
//   run     The text and name of the plan, the scenario's text, the command line, the question's bound, the executor.
//   point   The text of a scenario, the path of the scenario, and the overrides of one point of a sweep.
//   open    The path of a trace.
//   save    The path, a recording, and the parts of the answer that are not numbers (sim/study/answer), or "".
//   export  The path, the format, the table (or ""), and a recording.
//
// The helper first sends any number of progress messages on the channel, and then one answer. The answer comes with
// a memory file. After `run` and `open`, the file holds a recording (run/recording/recording.hpp), after `point` the
// packed result of the point, and after `save` and `export` nothing. After an error, the file holds the error's text,
// or JSON if the plan is infeasible. If the process of the request dies without an answer, the helper sends `died`
// instead. If a channel is closed and neither has come, the helper has died. The caller cancels a run by shutting down
// its end of the channel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_file.hpp"

namespace sluice::helper {

struct Message {
  enum class Kind : std::int64_t {
    progress,  ///< first: number of executed actions, second: number of all actions
    answer,    ///< first: the exit code, as on the command line; 0 is success
    died,      ///< first: the signal that ended the process of the request
  };
  Kind kind = Kind::progress;
  std::int64_t first = 0, second = 0;
};

using Memory = MemoryFile;

/// Packs the parts (base/packed_strings.hpp) into a memory file.
Memory packed(const std::vector<std::string_view>& parts);

/// Sends bytes and descriptors as one message, and returns true. Returns false if the other side has closed the socket.
/// If the other side has not read earlier messages, the socket may be full. In this case, the function waits if `wait`
/// is true, and returns false if `wait` is false. Throws IoError on any other failure.
bool send(int socket, std::string_view bytes, const std::vector<int>& descriptors,
          bool wait = true);

struct Received {
  bool ended = false;  ///< whether the other side has closed the socket
  std::size_t size = 0;
  std::vector<Descriptor> descriptors;
};
/// Waits for one message of at most `size` bytes, and returns it. Throws IoError.
Received receive(int socket, void* bytes, std::size_t size);

}  // namespace sluice::helper
