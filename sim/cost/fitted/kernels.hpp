// Finds the kernels that a pass of a layer launches. Maps the layers of Sluice to classes of operators.
#pragma once

#include <vector>

#include "cost/cost.hpp"
#include "cost/fitted/kernel.hpp"

namespace sluice {

/// The kernels by which attention is computed.
enum class AttentionKernels {
  /// Each operation of attention is a kernel: scores, scale, mask, softmax, dropout, and values. The scores are kept in
  /// memory.
  eager,
  fused  ///< only the two products are kernels
};

/// Returns the kernels of a query. The list may be empty. A layer of an unknown class has one kernel. The class of this
/// kernel is the layer's type. An update of weights is one kernel of the class elementwise.
std::vector<Kernel> kernels_of(const Query& query, AttentionKernels attention);

}  // namespace sluice
