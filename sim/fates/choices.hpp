// Fates: what becomes of what a stage makes until its backward pass needs it.
//   keep       the inner tensors and the output stay on the device
//   offload    both go to host memory after the forward pass and come back before the backward
//   recompute  neither stays; the forward pass runs again, from the nearest boundary that was kept
//              or comes back, where a backward pass reads what it makes
// What a stage reads was made by the stage before it and shares the fate of that stage: for a stage
// that keeps or offloads after one that recomputes, the input is made again. There are three
// exceptions. The output of the last stage stays, because the loss reads it at once. The input of
// the last stage also stays where that stage does not run again, because its backward pass follows
// its forward pass at once. And the input of the first stage is in host memory from the start:
// offloading stage 0 drops it and loads it again, without a save.
//
// Every policy uses this one exact form: fates -> choices -> tape. Choices treat inner tensors and
// boundaries separately, so they can say more than fates: also the checkpoints of Chen et al.
#pragma once

#include <vector>

#include "fates/tape.hpp"

namespace sluice {

enum class Fate : std::uint8_t { keep, recompute, offload };

/// The fates of the inner tensors, by stage, and of the boundaries 0 … n. A boundary that is made
/// by a stage which recomputes may be dropped (recompute): then the stages before it, back to the
/// nearest boundary that was not dropped, run again when a backward pass reads it. Any other
/// boundary is kept or offloaded, and it is a checkpoint where the stage after it recomputes.
struct Choices {
  std::vector<Fate> inner, boundary;
  bool operator==(const Choices&) const = default;
};

Choices choices_of(const Chain& chain, const std::vector<Fate>& fates);

/// The tape of a training step. The tape's first operation loads boundary 0. A save stands right
/// after the forward pass that makes the tensor, a load right before the operation that reads it.
/// Nothing is saved unless it is read later, nothing runs again unless its results are read, and
/// nothing of 0 bytes is copied. Throws InternalError when the number of choices is wrong, or when
/// a boundary is dropped whose stage does not recompute.
Tape tape_of(const Chain& chain, const Choices& choices);

/// The same for one fate per stage.
Tape tape_of(const Chain& chain, const std::vector<Fate>& fates);

/// Chen et al. 2016, section 4.1: segments of about sqrt(n) stages. Each segment keeps only its
/// input and runs again before its backward pass; the last one keeps everything, because its
/// backward pass follows at once. Checkpoints are choices of boundaries, so a list of fates by
/// stage cannot say this.
Tape sqrt_tape(const Chain& chain);

/// Section 3: the input of each stage is kept, and everything inside the stage is made again from
/// it.
Tape checkpoint_tape(const Chain& chain);

/// The choices that treat every stage alike: keep all (the first), recompute all, offload all, keep
/// the input of each stage, or the inputs of about sqrt(n) segments.
std::vector<Tape> alike_tapes(const Chain& chain);

}  // namespace sluice
