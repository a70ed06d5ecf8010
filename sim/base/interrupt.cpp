#include "base/interrupt.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.hpp"

namespace sluice {
namespace {

volatile std::sig_atomic_t received = 0;

// A signal handler must not wait for a lock, so these variables are atomic.
std::atomic<bool> at_once = false;
std::atomic<bool> clears_a_line = false;  ///< whether standard error is a terminal
std::atomic<int> in_order = 0;
/// Whether this process is a child. The parent of the child prints why the child ended.
std::atomic<bool> is_child = false;
std::array<std::atomic<const char*>, 16> half_written = {};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
              std::atomic<const char*>::is_always_lock_free);

void say(std::string_view text) {
  (void)!::write(STDERR_FILENO, text.data(), text.size());
}

/// Ends the process. Calls only functions that are safe in a signal handler.
[[noreturn]] void leave(int exit_code, const char* reason) {
  for (const std::atomic<const char*>& path : half_written)
    if (const char* const name = path) ::unlink(name);
  if (clears_a_line) say("\r\x1b[K");
  say("sluice: ");
  say(reason);
  say("\n");
  _exit(exit_code);
}

[[noreturn]] void leave(int signal) {
  leave(128 + signal, "interrupted");
}

[[noreturn]] void leave_without_memory() {
  if (is_child) _exit(ended_without_memory);
  leave(70, out_of_memory);
}

[[noreturn]] void on_terminate() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    if (says_out_of_memory(error)) leave_without_memory();
    say("sluice: internal error: ");
    say(error.what());
    say("\n");
  } catch (...) {
    say("sluice: internal error\n");
  }
  std::abort();
}

/// Handles a call of abort(). SimGrid calls abort() when it gets no memory. This handler calls only functions that are
/// safe in a signal handler. When the handler returns, abort() ends the process.
void on_abort(int) {
  constexpr std::size_t little = std::size_t{16} << 20;
  if (!has_room_for(little)) leave_without_memory();
}

bool leaves_now() {
  return at_once && in_order == 0;
}

// Calls only functions that are safe in a signal handler.
void on_signal(int signal) {
  if (leaves_now()) leave(signal);
  if (signal == SIGINT && received == SIGINT) {
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    sigaction(SIGINT, &standard, nullptr);
    // The signal is blocked while the handler runs. So the next line takes effect when the handler returns.
    raise(SIGINT);
    return;
  }
  received = signal;
}

}  // namespace

void install_interrupt_handlers() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int interrupt_signal() {
  return received;
}

void check_interrupt() {
  if (received != 0) throw Interrupted(received);
}

void end_at_once_when_interrupted() {
  const char* const terminal = std::getenv("TERM");
  clears_a_line =
      isatty(STDERR_FILENO) != 0 && (terminal == nullptr || std::strcmp(terminal, "dumb") != 0);
  at_once = true;
}

void set_flag_when_interrupted() {
  at_once = false;
}

bool says_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error)) return true;
  const auto* const of_system = dynamic_cast<const std::system_error*>(&error);
  return of_system && (of_system->code() == std::errc::resource_unavailable_try_again ||
                       of_system->code() == std::errc::not_enough_memory);
}

void end_when_memory_is_out() {
  std::set_terminate(on_terminate);
  std::signal(SIGABRT, on_abort);
}

bool has_room_for(std::size_t bytes) {
  void* const room = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return false;
  ::munmap(room, bytes);
  return true;
}

bool memory_is_low() {
  constexpr std::size_t much = std::size_t{128} << 20;
  return !has_room_for(much);
}

bool says_out_of_memory(std::string_view message) {
  return message.starts_with(out_of_memory);
}

void end_as_child_when_memory_is_out() {
  is_child = true;
}

bool ends_by_signal() {
  return received != 0 && at_once;
}

void end_now_by_signal() {
  if (ends_by_signal()) leave(received);
}

InOrder::InOrder() {
  ++in_order;
}

InOrder::~InOrder() {
  --in_order;
  if (received != 0 && leaves_now() && std::uncaught_exceptions() == 0) leave(received);
}

// If the list `half_written` is full, a signal does not remove the file at `path`. The file then stays on the disk, as
// after a crash.
RemovedOnInterrupt::RemovedOnInterrupt(std::string path) : path_(std::move(path)), place_(0) {
  for (; place_ < half_written.size(); ++place_) {
    const char* nobody = nullptr;
    if (half_written[place_].compare_exchange_strong(nobody, path_.c_str())) return;
  }
}

RemovedOnInterrupt::~RemovedOnInterrupt() {
  if (place_ < half_written.size()) half_written[place_] = nullptr;
}

SignalsHeld::SignalsHeld() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsHeld::~SignalsHeld() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace sluice
