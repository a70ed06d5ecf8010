// The fate of a stage says what becomes of the tensors that the stage makes, until its backward pass needs them:
//   keep       The inner tensors and the output stay on the device.
//   offload    The inner tensors and the output go to host memory after the forward pass and come back before the
//              backward pass.
//   recompute  The inner tensors and the output are dropped. Before a backward pass reads them, the forward pass runs
//              again, from the nearest boundary that was kept or that is loaded.
// The previous stage makes the input of a stage, so this input has the fate of the previous stage. Suppose that a stage
// keeps or offloads its tensors, and the previous stage recomputes. Then the input of the stage is computed again.
//
// There are three exceptions. The output of the last stage stays, because the loss reads it at
// once. The backward pass of the last stage directly follows its forward pass. So the input of the last stage stays,
// too, unless this stage runs again. The input of the first stage is in host memory from the start. If stage 0 is
// offloaded, this input is loaded again, but not saved.
//
// Strategies turn fates into choices, and choices into a tape (tape.hpp). Choices treat inner tensors and boundaries
// separately. So choices can express more than fates, for example the checkpoints of Chen et al.
#pragma once

#include <vector>

#include "fates/tape.hpp"

namespace sluice {

enum class Fate : std::uint8_t { keep, recompute, offload };

/// The fates of the inner tensors, by stage, and of the boundaries 0 to n. The fate `recompute` of a boundary means
/// that the boundary is dropped. The stage that makes it must recompute. When a backward pass reads a dropped boundary,
/// the stages before this boundary run again, back to the nearest boundary that was not dropped. Any other boundary is
/// kept or offloaded. A boundary that is not dropped is a checkpoint if the next stage recomputes.
struct Choices {
  std::vector<Fate> inner, boundary;
  bool operator==(const Choices&) const = default;
};

Choices choices_of(const Chain& chain, const std::vector<Fate>& fates);

/// Returns the tape of a training step. The tape's first operation loads boundary 0. A save directly follows the
/// forward pass that makes the tensor, and a load directly precedes the operation that reads the tensor. A tensor is
/// saved only if it is loaded later, and a stage runs again only if its result is read. Tensors of 0 bytes are not
/// copied. Throws InternalError if the number of choices is wrong, or if a boundary is dropped but the stage that makes
/// it does not recompute.
Tape tape_of(const Chain& chain, const Choices& choices);

/// Returns the tape for one fate per stage.
Tape tape_of(const Chain& chain, const std::vector<Fate>& fates);

/// Returns the tape with the checkpoints of Chen et al. 2016, section 4.1. The stages are divided into segments of
/// about sqrt(n) stages. Each segment keeps only its input and runs again before its backward pass. The last segment
/// keeps all its tensors, because its backward pass follows at once. A list with one fate per stage cannot express
/// these checkpoints, because it has no fates of boundaries.
Tape sqrt_tape(const Chain& chain);

/// Returns the tape with the checkpoints of Chen et al. 2016, section 3. The input of each stage is kept, and all
/// tensors inside the stage are computed again from the input.
Tape checkpoint_tape(const Chain& chain);

/// Returns the tapes that treat every stage alike. The first tape keeps all tensors. The other tapes recompute all
/// tensors, offload all tensors, keep the input of each stage, or keep the inputs of about sqrt(n) segments.
std::vector<Tape> alike_tapes(const Chain& chain);

}  // namespace sluice
