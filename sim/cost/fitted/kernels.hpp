// Finds the kernels that a pass of a layer launches, by mapping the layers of Sluice to classes of
// operators.
#pragma once

#include <vector>

#include "cost/cost.hpp"
#include "cost/fitted/kernel.hpp"

namespace sluice {

/// The kernels by which attention is computed.
enum class AttentionKernels {
  /// One kernel per step: scores, scale, mask, softmax, dropout, values; scores go to memory.
  eager,
  fused  ///< only the two products are kernels: scores stay in the unit
};

/// A class, with a description for people of the layers that belong to it.
struct KernelClass {
  const char* name;
  const char* layers;
};
const std::vector<KernelClass>& kernel_classes();

/// Returns the kernels of a query. They are empty if nothing is launched. A layer of an unknown class gives one kernel
/// with the name of the layer's type. An update of weights is elementwise.
std::vector<Kernel> kernels_of(const Query& query, AttentionKernels attention);

}  // namespace sluice
