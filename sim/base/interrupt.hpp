// Ctrl-C and SIGTERM: a flag that long loops look at.
#pragma once

namespace sluice {

/// Installs handlers for SIGINT and SIGTERM that only set the flag (a second SIGINT ends at once).
void install_interrupt_handlers();
/// The signal that was received, or 0.
int interrupt_signal();
/// Throws Interrupted when a signal was received.
void check_interrupt();

}  // namespace sluice
