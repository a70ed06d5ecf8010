// Describes offloaded tensors in a placement problem. An offloaded tensor crosses a boundary of stages, and is moved
// during a kernel.
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
  /// The saved tensor, and the kernel after which it was saved.
  std::uint32_t saved = none, saved_after = none;

  void begin_again();
  /// Returns the suffix that this life adds to the name of the activation.
  std::string name() const;
};

/// Returns for each layer the last reader: the index of the last layer that reads the output. Without a reader, the
/// index is 0. The output of a view counts as the output of the viewed layer.
std::vector<std::uint32_t> last_readers(const Model& model);

/// Makes the tensor take room while this kernel computes. The time of the kernel does not change. `arrives` says that
/// the tensor gets its first bytes during this kernel. Returns false if the kernel's table of seconds would become too
/// large.
bool add_passing(PlacementProblem::Kernel& kernel, std::uint32_t tensor, bool arrives);

}  // namespace sluice
