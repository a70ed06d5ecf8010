// Tapes of several devices that take turns. Each device that uses a boundary holds one of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fates/tape.hpp"

namespace sluice {

/// Calls use(b) for each boundary b that a forward or backward pass reads.
template <typename Use>
void each_boundary_read(const Chain& chain, const TapeOp& pass, const Use& use) {
  const bool forward = pass.kind == TapeOp::Kind::forward;
  chain.each_read(pass.number, [&](std::size_t b, bool backward) {
    if (forward || backward) use(b);
  });
  if (!forward && chain.stages[pass.number].reads_output) use(std::size_t{pass.number} + 1);
}

/// Returns for each operation of the tape the device on which it runs. A load runs on the device of the next pass, and a
/// save on the device of the last pass before it. Stage s is on device s mod `devices`.
std::vector<std::uint32_t> devices_of(const Tape& tape, std::size_t devices);

/// `tape` is written as if all devices shared one memory: a boundary that is loaded, or made again, leaves all of them.
/// Returns the tape for devices with memories of their own. There, each device that reads the boundary afterwards loads
/// it, before its first pass that does so. Only the device that makes it again does not. If such a load is removed, the
/// device keeps the boundary instead.
Tape on_devices(const Chain& chain, std::size_t devices, const Tape& tape);

}  // namespace sluice
