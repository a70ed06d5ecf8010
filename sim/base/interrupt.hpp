// Handles Ctrl-C and SIGTERM. By default a signal sets a flag that long loops look at. A program that only reads, plans
// and prints has nothing to clean up. Such a program can choose that a signal ends it at once, wherever it is. While an
// InOrder object exists, the signal waits.
#pragma once

#include <csignal>
#include <cstddef>
#include <exception>
#include <string>

namespace sluice {

/// Installs handlers for SIGINT and SIGTERM. They only set the flag, but a second SIGINT ends the process at
/// once.
void install_interrupt_handlers();
/// The signal that was received, or 0.
int interrupt_signal();
/// Throws Interrupted when a signal was received.
void check_interrupt();

/// From now on a signal ends the process at once, wherever it is. It prints the message of
/// Interrupted, removes half-written files, and exits with the code of Interrupted. With `false` a
/// signal only sets the flag again, as in a child process whose parent waits for an answer.
void end_at_once_when_interrupted(bool at_once);

inline constexpr const char* out_of_memory =
    "out of memory (of this computer, not of the simulated one)";
/// Returns whether an error means "out of memory". Threads and mappings report it by std::system_error.
bool says_out_of_memory(const std::exception& error);
/// Handles exceptions that nobody can catch, from now on. A library may throw one while it is loaded, or in a noexcept
/// function. If memory is out, the process prints the message above, removes its half-written files, and exits with
/// code 70. Otherwise it aborts.
void end_when_memory_is_out();

/// While an InOrder object exists, a signal only sets the flag, because some work must be completed first, such as
/// finishing a trace or closing a store. When the last InOrder is destroyed, a signal that came meanwhile ends the
/// process, unless an exception is being handled.
class InOrder {
 public:
  InOrder();
  ~InOrder();
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;
};

/// While this object exists, the file is removed if the process is ended at once.
class RemovedOnInterrupt {
 public:
  explicit RemovedOnInterrupt(std::string path);
  ~RemovedOnInterrupt();
  RemovedOnInterrupt(const RemovedOnInterrupt&) = delete;
  RemovedOnInterrupt& operator=(const RemovedOnInterrupt&) = delete;

 private:
  std::string path_;
  std::size_t place_;  ///< index in the list that the handler reads
};

/// While this object exists, signals are blocked: neither this thread nor the threads that it
/// starts receive any.
class SignalsHeld {
 public:
  SignalsHeld();
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace sluice
