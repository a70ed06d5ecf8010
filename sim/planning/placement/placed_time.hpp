// The seconds of a kernel depend on the memories of its operands. A function gives these seconds. If the cost model is
// a roofline over the operands, the function consists of the roofline's lines. Otherwise the function is a table.
#pragma once

#include <vector>

#include "planning/lower.hpp"
#include "planning/placement/memories.hpp"

namespace sluice {

/// Returns the seconds of the kernel that `query` describes. The operands of the query have no memories
/// yet. `tensor_of[i]` is the index of the tensor of operand i, since several operands may be one tensor.
/// The kernel has `tensors` tensors. Throws InputError if the cost model has no price for the kernel.
KernelTime placed_time(const Pricing& pricing, const TwoMemories& memories, const Query& query,
                       const std::vector<std::size_t>& tensor_of, std::size_t tensors);

}  // namespace sluice
