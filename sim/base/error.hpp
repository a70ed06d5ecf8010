// Errors: two roots of fault, the user's and ours, each with the exit code of the command line.
// Every message a user sees is made here, so that it has one form: FILE:LINE:COLUMN: error: TEXT.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

/// Where in a document something stands. `line` and `column` count from 1; line 0: no position.
struct Position {
  std::string file;
  int line = 0;
  int column = 0;
  std::string source;  ///< the text of that line, for the caret; may be empty
};

/// Base of every error that Sluice throws. what() is the whole message for a person.
class Error : public std::runtime_error {
 public:
  Error(int exit_code, const std::string& message)
      : std::runtime_error(message), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

/// The command line cannot be understood (exit 2).
struct UsageError : Error {
  explicit UsageError(const std::string& message) : Error(2, message) {}
};

/// A document says something that it may not say (exit 3). With a position the message reads
///   models/a.yaml:3:5: error: unknown key 'lyers' in model (did you mean 'layers'?)
///       lyers: 3
///       ^
struct InputError : Error {
  explicit InputError(const std::string& message) : Error(3, message) {}
  InputError(const Position& where, const std::string& message);
  bool has_position() const { return has_position_; }
  /// The same error with a line beneath: how one came to that place.
  InputError noted(const std::string& line) const;

 private:
  bool has_position_ = false;
};

/// What an infeasible question lacks, as far as that is known.
struct Shortage {
  /// The head of a stream that cannot start.
  struct Waiter {
    std::string stream, action;
    std::string pool;                  ///< where its bytes are not granted; empty: it waits for
    std::string awaits;                ///< that action; empty: it waits for bytes
    std::int64_t bytes = 0;            ///< that it asks for in the pool
    std::vector<std::string> tensors;  ///< of those bytes
    bool operator==(const Waiter&) const = default;
  };
  std::string pool;  ///< the memory that is too small; empty: none is
  std::optional<std::int64_t> needed_bytes = {}, available_bytes = {};
  std::vector<std::pair<std::string, std::int64_t>> by_class = {};  ///< of what is needed there
  std::vector<Waiter> waiters = {};
  std::optional<double> time_s = {};  ///< of the run, when nothing could go on
  /// Micro-batches that fit in flight, where more were asked; 0: not one. None: that is not known.
  std::optional<std::int64_t> most_in_flight = {};
  bool operator==(const Shortage&) const = default;
};

/// The question is well put and the answer is "it does not fit" or "it blocks for ever" (exit 4).
struct Infeasible : Error {
  explicit Infeasible(const std::string& message, Shortage shortage_ = {})
      : Error(4, message), shortage(std::move(shortage_)) {}
  /// The first line of the message, without the colon that announces more.
  std::string headline() const;
  Shortage shortage;
};

/// The operating system refused: missing, unwritable, full (exit 5).
struct IoError : Error {
  explicit IoError(const std::string& message) : Error(5, message) {}
};

/// Our fault (exit 70).
struct InternalError : Error {
  explicit InternalError(const std::string& message) : Error(70, message) {}
};

/// Someone pressed Ctrl-C (exit 130) or sent SIGTERM (exit 143).
struct Interrupted : Error {
  explicit Interrupted(int signal) : Error(128 + signal, "interrupted") {}
};

}  // namespace sluice
