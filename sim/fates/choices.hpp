// The fate of a stage says what becomes of the tensors of the stage between its forward and its backward pass:
//   keep       The inner tensors and the output stay on the device.
//   offload    The inner tensors and the output go to host memory after the forward pass. They come back before the
//              backward pass.
//   recompute  The inner tensors and the output are dropped. Before the backward pass, the forward pass runs again. It
//              starts from the nearest boundary that was kept or is loaded.
// The input of a stage is the output of the previous stage. So this input has the fate of the previous stage. Suppose
// that a stage keeps or offloads its tensors, and the previous stage recomputes. Then the input of the stage is
// computed again.
//
// There are three exceptions. The output of the last stage stays, because the loss reads it at once. The input of the
// last stage stays, too, because the backward pass of this stage directly follows its forward pass. This input does
// not stay if the last stage runs again. The input of the first stage is in host memory from the start. If stage 0 is
// offloaded, this input is loaded again, but not saved.
//
// Strategies turn fates into choices, and choices into a tape (tape.hpp). Choices treat inner tensors and boundaries
// separately. So they can also express other plans, for example the checkpoints of Chen et al.
#pragma once

#include <vector>

#include "fates/tape.hpp"

namespace sluice {

enum class Fate : std::uint8_t { keep, recompute, offload };

/// The fates of the inner tensors, by stage, and of the boundaries 0 to n. A boundary with the fate `recompute` is
/// dropped. The stage that makes it must recompute. For the backward pass, the stages before a dropped boundary run
/// again. They start from the nearest boundary that was not dropped. Any other boundary is kept or offloaded. Such a
/// boundary is a checkpoint if the next stage recomputes.
struct Choices {
  std::vector<Fate> inner, boundary;
  bool operator==(const Choices&) const = default;
};

Choices choices_of(const Chain& chain, const std::vector<Fate>& fates);

/// Returns the tape of a training step. The tape's first operation loads boundary 0. A save directly follows the
/// forward pass that makes the tensor. A load directly precedes the operation that reads the tensor. The tape has no
/// useless operations: each saved copy is loaded later, and each second forward pass has a reader. Tensors of 0 bytes
/// are not copied. Throws InternalError if the number of choices is wrong. Throws InternalError also if a boundary is
/// dropped and its stage does not recompute.
Tape tape_of(const Chain& chain, const Choices& choices);

/// Returns the tape for one fate per stage.
Tape tape_of(const Chain& chain, const std::vector<Fate>& fates);

/// Returns the tape with the checkpoints of Chen et al. 2016, section 4.1. The stages are divided into segments of
/// about sqrt(n) stages. Each segment keeps only its input and runs again before its backward pass. The last segment
/// keeps all its tensors, because its backward pass follows at once. These checkpoints need fates of boundaries, so a
/// list with one fate per stage cannot express them.
Tape sqrt_tape(const Chain& chain);

/// Returns the tape with the checkpoints of Chen et al. 2016, section 3. The input of each stage is kept, and all
/// tensors inside the stage are computed again from the input.
Tape checkpoint_tape(const Chain& chain);

/// Returns the tapes that treat every stage alike. One tape keeps all tensors, one recomputes all, and one offloads
/// all. One tape keeps the input of each stage, and one keeps the inputs of about sqrt(n) segments.
std::vector<Tape> alike_tapes(const Chain& chain);

}  // namespace sluice
