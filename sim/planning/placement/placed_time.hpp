// The seconds of a kernel as a function of the memories of its operands. If the seconds of the cost model are a
// roofline over the operands, the function consists of the roofline's lines. Otherwise the function is a table.
#pragma once

#include <vector>

#include "planning/lower.hpp"
#include "planning/placement/memories.hpp"

namespace sluice {

/// Returns the seconds of the kernel. For each operand of the query, `tensor_of` holds the index of its tensor, and
/// `tensors` is the number of the kernel's tensors. Several operands may be one tensor. The operands of the query
/// have no memories yet. Throws InputError if the cost model has no price.
KernelTime placed_time(const Pricing& pricing, const TwoMemories& memories, const Query& query,
                       const std::vector<std::size_t>& tensor_of, std::size_t tensors);

}  // namespace sluice
