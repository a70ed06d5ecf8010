// The fate of a stage says what becomes of the tensors of the stage between its forward and its backward pass:
//   keep       The inner tensors and the output stay on the device.
//   offload    The inner tensors and the output go to host memory after the forward pass. They come back before the
//              backward pass.
//   recompute  The inner tensors and the output are dropped. Before the backward pass, the forward pass runs again. It
//              starts from the nearest earlier boundary that was kept or is loaded.
// The input of a stage is the output of the previous stage. So the fate of the previous stage decides about this input.
// If the previous stage recomputes, the input is computed again, even for a stage that keeps or offloads its tensors.
//
// There are three exceptions. First, the output of the last stage stays, because the loss reads it at once. Second, the
// backward pass of the last stage directly follows its forward pass. So the input of the last stage stays, unless the
// last stage runs again. Third, the input of the first stage is in host memory from the start. If stage 0 is offloaded,
// this input is loaded again, but never saved.
//
// Strategies turn fates into choices, and choices into a tape (tape.hpp). Choices have separate fates for inner tensors
// and for boundaries. So choices can express more than fates of stages can, for example the checkpoints of Chen et al.
#pragma once

#include <vector>

#include "fates/tape.hpp"

namespace sluice {

enum class Fate : std::uint8_t { keep, recompute, offload };

/// The fates of the inner tensors, indexed by stage, and of the boundaries, from boundary 0 on. A boundary with the
/// fate `recompute` is dropped. The stage that makes it must have the fate `recompute`, too. For the backward pass, the
/// dropped boundary is made again: all stages run again that lie between it and the nearest earlier boundary that was
/// not dropped. A boundary that is kept or offloaded is a checkpoint if the next stage recomputes.
struct Choices {
  std::vector<Fate> inner, boundary;
  bool operator==(const Choices&) const = default;
};

Choices choices_of(const Chain& chain, const std::vector<Fate>& fates);

/// Returns the tape of a training step. The tape's first operation loads boundary 0. A save directly follows the
/// forward pass that makes the tensor. A load directly precedes the operation that reads the tensor. The tape has no
/// useless operations: each saved copy is loaded later, and a later operation reads the result of each second forward
/// pass. Tensors of 0 bytes are not copied. Throws InternalError if the number of choices is wrong, or if a boundary is
/// dropped and the stage that makes it does not recompute.
Tape tape_of(const Chain& chain, const Choices& choices);

/// Returns the tape for fates that are given by stage.
Tape tape_of(const Chain& chain, const std::vector<Fate>& fates);

/// Returns the tape with the checkpoints of Chen et al. 2016, section 4.1. The stages are divided into segments of
/// about sqrt(n) stages. Each segment keeps only its input, and its forward pass runs again before its backward pass.
/// The last segment keeps all its tensors, because its backward pass follows at once. These checkpoints need fates of
/// boundaries. So a list with one fate per stage cannot express them.
Tape sqrt_tape(const Chain& chain);

/// Returns the tape with the checkpoints of Chen et al. 2016, section 3. The input of each stage is kept. All tensors
/// inside the stage are computed again from this input.
Tape checkpoint_tape(const Chain& chain);

/// Returns five tapes that treat every stage alike. One tape keeps all tensors, one recomputes them, and one offloads
/// them. The fourth tape is checkpoint_tape(), and the fifth is sqrt_tape().
std::vector<Tape> alike_tapes(const Chain& chain);

}  // namespace sluice
