// Fates: what becomes of what a stage makes until its backward pass needs it.
//   keep       the inner tensors and the output stay on the device
//   offload    both go to host memory after the forward pass and come back before the backward
//   recompute  neither stays; the forward pass runs again, from the nearest boundary that was kept
//              or comes back, where a backward pass reads what it makes
// What a stage reads was made by the stage before it and shares that stage's fate: a stage that
// keeps or offloads after one that recomputes has its input made again. There are three exceptions.
// The output of the last stage stays: the loss reads it at once. So does the input of the last
// stage, where that stage does not run again: its backward pass follows its forward pass at once.
// And the input of the first stage is in host memory from the start: offloading stage 0 drops it
// and loads it again, without a save.
//
// One exact form for every policy: fates -> choices -> tape. Choices speak of inner tensors and
// boundaries separately, so they say more than fates: they have the checkpoints of Chen et al.
#pragma once

#include <vector>

#include "fates/tape.hpp"

namespace sluice {

enum class Fate : std::uint8_t { keep, recompute, offload };

/// Fates of the inner tensors, by stage, and of the boundaries, 0 … n. A boundary that a stage
/// makes which recomputes may be dropped (recompute): the stages before it, back to the nearest
/// boundary that was not dropped, run again when a backward pass reads it. Any other boundary is
/// kept or offloaded, and is a checkpoint where the stage after it recomputes.
struct Choices {
  std::vector<Fate> inner, boundary;
  bool operator==(const Choices&) const = default;
};

Choices choices_of(const Chain& chain, const std::vector<Fate>& fates);

/// The tape of a training step. Boundary 0 is loaded by the tape's first operation. Saves stand
/// right after the forward that makes a tensor, loads right before the operation that reads it.
/// Nothing is saved that is not read later, nothing runs again whose results nobody reads, and
/// nothing of 0 bytes is copied. Throws InternalError on the wrong number of choices, or where a
/// boundary is dropped that was made by a stage which does not recompute.
Tape tape_of(const Chain& chain, const Choices& choices);

/// The same, under one fate per stage.
Tape tape_of(const Chain& chain, const std::vector<Fate>& fates);

/// Chen et al. 2016, section 4.1: segments of about sqrt(n) stages, each of which keeps only its
/// input and runs again before its backward; the last one, whose backward follows at once, keeps
/// all. Checkpoints are choices of boundaries, so no list of fates by stage says this.
Tape sqrt_tape(const Chain& chain);

/// Section 3: the input of each stage is kept, and its inside made again from it.
Tape checkpoint_tape(const Chain& chain);

/// What treats every stage alike: keeps all (the first), recomputes all, offloads all, keeps each
/// stage's input, or those of about sqrt(n) segments.
std::vector<Tape> alike_tapes(const Chain& chain);

}  // namespace sluice
