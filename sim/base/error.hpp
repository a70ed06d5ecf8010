// The classes of Sluice's errors. Some errors are faults of the user, and some are faults of Sluice. The program
// `sluice` has one exit code per class. A message with a position reads FILE:LINE:COLUMN: error: TEXT.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// The place in a document where an error is. `line` and `column` count from 1. Line 0 means that there is no
/// position.
struct Position {
  std::string file;
  int line = 0;
  int column = 0;
  std::string source;  ///< the text of this line, which messages show with a caret; may be empty
};

/// The base of every error that Sluice throws. what() returns the whole message.
class Error : public std::runtime_error {
 public:
  Error(int exit_code, const std::string& message)
      : std::runtime_error(message), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

/// The command line cannot be understood. The exit code is 2.
struct UsageError : Error {
  explicit UsageError(const std::string& message) : Error(2, message) {}
};

/// The content of a document is not allowed. The exit code is 3. A message with a position:
///   models/a.yaml:3:5: error: unknown key 'lyers' in model (did you mean 'layers'?)
///       lyers: 3
///       ^
struct InputError : Error {
  explicit InputError(const std::string& message) : Error(3, message) {}
  InputError(const Position& where, const std::string& message);
  bool has_position() const { return has_position_; }
  /// Returns this error with one more line of text. The line names a place that uses the faulty part of a document.
  InputError noted(const std::string& line) const;

 private:
  bool has_position_ = false;
};

/// The reasons why a question is infeasible. If a reason is not known, its field is empty.
struct Shortage {
  /// A stream whose next action cannot start, and what this action waits for.
  struct Waiter {
    std::string stream, action;
    std::string awaits;                ///< the awaited action; empty if memory is awaited
    std::string pool;                  ///< the awaited memory; empty if an action is awaited
    std::int64_t bytes = 0;            ///< the bytes that the action asks for in the pool
    std::vector<std::string> tensors;  ///< the tensors for which the action asks for these bytes
    bool operator==(const Waiter&) const = default;
  };
  std::string pool;  ///< the memory that is too small; empty if no memory is too small
  std::optional<std::int64_t> needed_bytes = {}, available_bytes = {};
  /// For each class of tensors, the bytes that it needs.
  std::vector<std::pair<std::string, std::int64_t>> by_class = {};
  std::vector<Waiter> waiters = {};
  /// The moment of the deadlock, in seconds from the start of the run. From this moment on, no action can start.
  std::optional<double> time_s = {};
  /// The question may ask for more micro-batches in flight than fit. This is the number that fits, or 0. Absent if the
  /// number is not known.
  std::optional<std::int64_t> most_in_flight = {};
  bool operator==(const Shortage&) const = default;
};

/// The question is valid. Its answer is that the plan does not fit into memory, or ends in a deadlock. The exit code is
/// 4.
struct Infeasible : Error {
  explicit Infeasible(const std::string& message, Shortage shortage_ = {})
      : Error(4, message), shortage(std::move(shortage_)) {}
  /// Returns the first line of the message. If this line ends with a colon, the colon is left out.
  std::string headline() const;
  Shortage shortage;
};

/// The operating system refused an operation. For example, a file is missing or not writable, or the disk is full. The
/// exit code is 5.
struct IoError : Error {
  explicit IoError(const std::string& message) : Error(5, message) {}
};

/// A fault of Sluice itself. The exit code is 70.
struct InternalError : Error {
  explicit InternalError(const std::string& message) : Error(70, message) {}
};

/// The user pressed Ctrl-C (exit code 130), or a process sent SIGTERM (exit code 143).
struct Interrupted : Error {
  explicit Interrupted(int signal) : Error(128 + signal, "interrupted") {}
};

}  // namespace sluice
