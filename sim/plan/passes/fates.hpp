// Fates: what becomes of what a stage makes until its backward pass needs it.
//   keep       the inner tensors and the output stay on the device
//   offload    both go to host memory after the forward pass and come back before the backward
//   recompute  neither stays; the forward pass runs again, from the nearest boundary that was kept
//              or comes back
// The input of a stage that keeps or offloads is part of what its backward pass reads: it shares
// that stage's fate where the stage before recomputes. The input of the first stage is in host
// memory from the start: offloading stage 0 drops it and loads it again, without a save.
//
// One exact form for every policy: fates -> tape.
#pragma once

#include <vector>

#include "plan/passes/tape.hpp"

namespace sluice {

enum class Fate : std::uint8_t { keep, recompute, offload };

/// The tape of a training step under these fates, one a stage. Boundary 0 is loaded by the tape's
/// first operation.
Tape tape_of(const Chain& chain, const std::vector<Fate>& fates);

/// Chen et al. 2016, section 4.1: segments of about sqrt(n) stages; the last stage of each keeps
/// nothing but its output: fates by boundary rather than by stage, so it is a tape of its own.
Tape sqrt_tape(const Chain& chain);

}  // namespace sluice
