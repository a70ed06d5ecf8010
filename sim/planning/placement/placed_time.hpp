// The seconds of a kernel as a function of the memories of its operands. If the cost model is a roofline over the
// operands, the function consists of the roofline's lines. Otherwise it is a table.
#pragma once

#include <vector>

#include "planning/lower.hpp"
#include "planning/placement/memories.hpp"

namespace sluice {

/// Returns the seconds of the kernel that `query` describes. The operands of the query do not yet name a memory. The
/// kernel has `tensors` tensors, and operand i is tensor `tensor_of[i]`. Several operands may be the same tensor.
/// Throws InputError if the cost model has no price for the kernel.
KernelTime placed_time(const Pricing& pricing, const TwoMemories& memories, const Query& query,
                       const std::vector<std::size_t>& tensor_of, std::size_t tensors);

}  // namespace sluice
