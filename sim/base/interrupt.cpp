#include "base/interrupt.hpp"

#include <csignal>

#include "base/error.hpp"

namespace sluice {
namespace {

volatile std::sig_atomic_t received = 0;

// Only what is safe in a signal handler: a flag, sigaction, raise.
void on_signal(int signal) {
  if (signal == SIGINT && received == SIGINT) {
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    sigaction(SIGINT, &standard, nullptr);
    raise(SIGINT);  // blocked while the handler runs: it takes effect on return
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

}  // namespace sluice
