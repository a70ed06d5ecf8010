// Tensors that are offloaded, in a problem of placement: which ones cross a boundary of stages, and
// kernels during which they are on their way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.hpp"
#include "placement/problem.hpp"

namespace sluice {

/// The lives of an activation in a micro-batch: each time that it is computed or comes back from
/// host memory, another one begins.
struct ActivationLife {
  std::size_t number = 0;
  bool made = false;                               ///< at all
  bool away = false;                               ///< it is only in host memory
  std::uint32_t saved = none, saved_after = none;  ///< the tensor, and the kernel after which

  void begin_again();
  /// What its tensors are called in this life, behind the name of the activation.
  std::string name() const;
};

/// For each layer, the last layer that reads its output, or 0 if no layer reads it. If a layer only passes on the
/// output of another layer, its output counts as that other layer's.
std::vector<std::uint32_t> last_readers(const Model& model);

/// Makes the tensor take room while this kernel computes. The kernel does not use the tensor, and takes as long as
/// without it. `arrives` says that the tensor gets its first bytes during this kernel. Returns false if the kernel's
/// table of seconds would become too large.
bool add_passing(PlacementProblem::Kernel& kernel, std::uint32_t tensor, bool arrives);

}  // namespace sluice
