// The seconds of a kernel as a function of the memories of its operands. If the cost model proves to be a roofline over
// the operands, the function is the roofline's lines; otherwise it is a table.
#pragma once

#include <vector>

#include "planning/lower.hpp"
#include "planning/placement/memories.hpp"

namespace sluice {

/// `tensor_of`: for each operand of the query, the index of its tensor among the kernel's `tensors`. Several
/// operands may be one tensor. The query's operands have no memories yet. Throws InputError where the cost model has
/// no price.
KernelTime placed_time(const Pricing& pricing, const TwoMemories& memories, const Query& query,
                       const std::vector<std::size_t>& tensor_of, std::size_t tensors);

}  // namespace sluice
