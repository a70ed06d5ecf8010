// Which kernels a pass of a layer launches: what maps Sluice's layers to classes of operators.
#pragma once

#include <vector>

#include "cost/cost.hpp"
#include "cost/fitted/kernel.hpp"

namespace sluice {

/// How attention is computed.
enum class AttentionKernels {
  eager,  ///< a kernel a step: scores, scale, mask, softmax, dropout, values; scores go to memory
  fused   ///< its two products alone: scores stay in the unit
};

/// The classes, with what belongs to each: for people.
struct KernelClass {
  const char* name;
  const char* layers;
};
const std::vector<KernelClass>& kernel_classes();

/// The kernels of a query; none where nothing is launched. A layer of which no class is known gives
/// one kernel of its type's name. An update of weights is elementwise.
std::vector<Kernel> kernels_of(const Query& query, AttentionKernels attention);

}  // namespace sluice
