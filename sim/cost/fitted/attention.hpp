// The kernels of scaled dot-product attention.
#pragma once

#include <vector>

#include "cost/fitted/kernels.hpp"

namespace sluice {

/// Returns the kernels of a query for a layer of the type `attention`.
std::vector<Kernel> attention_kernels(const Query& query, AttentionKernels attention);

}  // namespace sluice
