// The kernels that a pass of a layer launches: this maps the layers of Sluice to classes of
// operators.
#pragma once

#include <vector>

#include "cost/cost.hpp"
#include "cost/fitted/kernel.hpp"

namespace sluice {

/// How attention is computed.
enum class AttentionKernels {
  eager,  ///< one kernel per step: scores, scale, mask, softmax, dropout, values; scores go to
          ///< memory
  fused   ///< only the two products are kernels: scores stay in the unit
};

/// The classes, with a description of what belongs to each, for people.
struct KernelClass {
  const char* name;
  const char* layers;
};
const std::vector<KernelClass>& kernel_classes();

/// The kernels of a query; empty where nothing is launched. A layer whose class is not known gives
/// one kernel with the name of its type. An update of weights is elementwise.
std::vector<Kernel> kernels_of(const Query& query, AttentionKernels attention);

}  // namespace sluice
