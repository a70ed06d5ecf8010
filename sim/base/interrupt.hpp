// Handles Ctrl-C and SIGTERM. By default a signal only sets a flag. Long loops check this flag. A program without
// anything to clean up may call end_at_once_when_interrupted(). Then a signal ends the program at once. While an
// InOrder object exists, the first signal does not end the program.
#pragma once

#include <csignal>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>

namespace sluice {

/// Installs handlers for SIGINT and SIGTERM. The first signal only sets the flag. A second SIGINT ends the process at
/// once.
void install_interrupt_handlers();
/// Returns the number of the received signal. Without a signal, returns 0.
int interrupt_signal();
/// Throws Interrupted if a signal has been received.
void check_interrupt();

/// After this call, a signal ends the process at once. The process prints the message of Interrupted, and removes
/// half-written files. It exits with the code of Interrupted.
void end_at_once_when_interrupted();
/// After this call, the first signal only sets the flag. A child process whose parent waits for an answer calls this
/// function.
void set_flag_when_interrupted();

inline constexpr const char* out_of_memory =
    "out of memory (of this computer, not of the simulated one)";
/// Returns whether an error means "out of memory". Errors with this meaning are std::bad_alloc, and the
/// std::system_error of a thread or a mapping that could not be created.
bool says_out_of_memory(const std::exception& error);
/// Installs handlers for exceptions that no code can catch, and for calls of abort(). A library may throw such an
/// exception while it is loaded, or in a noexcept function. SimGrid calls abort() when it gets no memory. If memory is
/// used up, the process prints `out_of_memory`, and removes its half-written files. It exits with code 70. In all other
/// cases, the process aborts.
void end_when_memory_is_out();
/// Returns whether this process may allocate `bytes` additional bytes of address space. `ulimit -v` limits the address
/// space.
bool has_room_for(std::size_t bytes);
/// Returns true if this process cannot allocate another 128 MiB. If a library has failed in such a process, the
/// reason is probably the lack of memory.
bool memory_is_low();
/// Returns whether a message begins with the text `out_of_memory`. A child process sends such a
/// message if its memory is used up.
bool says_out_of_memory(std::string_view message);

/// A child process ends with this status if memory is used up and the child cannot answer. Its parent then prints a
/// message.
inline constexpr int ended_without_memory = 71;
/// Makes this process end with the status `ended_without_memory` when memory is used up.
void end_as_child_when_memory_is_out();

/// Returns true if a signal has come and will end this process. The process may first wait until all InOrder objects
/// are gone.
bool ends_by_signal();
/// Ends the process if ends_by_signal() returns true. Call this function when all work that InOrder objects protect is
/// completed.
void end_now_by_signal();

/// While an InOrder object exists, the first signal only sets the flag. Use an InOrder object for work that must be
/// completed first, such as finishing a trace or closing a store. After end_at_once_when_interrupted(), the
/// destructor of the last InOrder object ends the process if a signal has come. It does not end the process while an
/// exception is being handled.
class InOrder {
 public:
  InOrder();
  ~InOrder();
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;
};

/// While this object exists, a signal that ends the process at once also removes the file at `path`.
class RemovedOnInterrupt {
 public:
  explicit RemovedOnInterrupt(std::string path);
  ~RemovedOnInterrupt();
  RemovedOnInterrupt(const RemovedOnInterrupt&) = delete;
  RemovedOnInterrupt& operator=(const RemovedOnInterrupt&) = delete;

 private:
  std::string path_;
  std::size_t place_;  ///< the index of the file in the handler's list of half-written files
};

/// While this object exists, its thread receives no signal. Threads started by this thread receive none, either.
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
