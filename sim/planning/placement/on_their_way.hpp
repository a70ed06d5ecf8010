// Describes offloaded tensors in a placement problem. An offloaded tensor is saved to host memory and later loaded
// again. It needs room on the device while it moves. So it is an operand of the kernels that run at that time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.hpp"
#include "placement/problem.hpp"

namespace sluice {

/// An activation of a micro-batch has several lives: each time that it is computed, or comes back from host memory, a
/// new life begins. This is the present life.
struct ActivationLife {
  std::size_t number = 0;
  bool made = false;  ///< whether the activation has been computed
  bool away = false;  ///< whether the activation is only in host memory
  /// The tensor that was saved, and the kernel after which it was saved. Both are `none` if nothing was saved.
  std::uint32_t saved = none, saved_after = none;

  void begin_again();
  /// Returns the text that distinguishes this life at the end of the activation's name: nothing in the first life, then
  /// " again", then " again 2", and so on.
  std::string name() const;
};

/// Returns, indexed by layer, the index of the last layer that reads the layer's output. If no layer reads it, this
/// index is 0. The output of a view counts as the output of the viewed layer.
std::vector<std::uint32_t> last_readers(const Model& model);

/// Makes a tensor take room while this kernel computes. The time of the kernel does not change. `passing` says whether
/// a transfer writes the tensor during this kernel. Returns false if the kernel's table of seconds would become too
/// large.
bool add_passing(PlacementProblem::Kernel& kernel, const PlacementProblem::Operand& passing);

}  // namespace sluice
