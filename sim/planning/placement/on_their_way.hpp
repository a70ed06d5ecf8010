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

/// For each layer, the last layer that reads its output; 0: none does. The output of a layer that
/// only passes on another one's belongs to that layer.
std::vector<std::uint32_t> last_readers(const Model& model);

/// The tensor needs room while this kernel computes, but the kernel does not use it, and takes as
/// long as without it. `arrives`: it has its first bytes then. Returns false if the kernel's table of
/// seconds would become too large.
bool add_passing(PlacementProblem::Kernel& kernel, std::uint32_t tensor, bool arrives);

}  // namespace sluice
