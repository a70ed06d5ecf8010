// Seconds of a kernel by where its operands lie, as its cost model prices them: lines where they
// are a roofline, which is tried out; else a table.
#pragma once

#include <vector>

#include "planning/lower.hpp"
#include "planning/placement/memories.hpp"

namespace sluice {

/// `tensor_of`: by operand of the query, which of the kernel's `tensors` it is (several may be
/// one). The query's operands have no pools yet. Throws InputError where the cost model has no
/// price.
KernelTime placed_time(const Pricing& pricing, const TwoMemories& memories, const Query& query,
                       const std::vector<std::size_t>& tensor_of, std::size_t tensors);

}  // namespace sluice
