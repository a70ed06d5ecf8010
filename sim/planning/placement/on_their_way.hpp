// Describes offloaded tensors in a placement problem: which tensors cross a boundary of stages, and during which
// kernels they are moved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.hpp"
#include "placement/problem.hpp"

namespace sluice {

/// The present life of an activation in a micro-batch. A new life begins each time that the activation is computed or
/// comes back from host memory.
struct ActivationLife {
  std::size_t number = 0;
  bool made = false;  ///< whether the activation has been computed
  bool away = false;  ///< whether the activation is only in host memory
  /// The tensor that was saved, and the kernel after which it was saved.
  std::uint32_t saved = none, saved_after = none;

  void begin_again();
  /// Returns the suffix that this life adds to the name of the activation.
  std::string name() const;
};

/// Returns for each layer the index of the last layer that reads its output, or 0 if no layer reads
/// its output. The output of a view counts as the output of the viewed layer.
std::vector<std::uint32_t> last_readers(const Model& model);

/// Makes the tensor take room while this kernel computes. The kernel does not use the tensor, so the time of the kernel
/// does not change. `arrives` says that the tensor gets its first bytes during this kernel. Returns false if the
/// kernel's table of seconds would become too large.
bool add_passing(PlacementProblem::Kernel& kernel, std::uint32_t tensor, bool arrives);

}  // namespace sluice
