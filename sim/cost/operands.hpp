// The tensors that a pass of an operator reads and writes.
#pragma once

#include <vector>

#include "cost/cost.hpp"

namespace sluice {

/// The operands of a pass. First those that it reads: inputs, weights, cache; in a backward pass
/// also what was kept, the output and its gradient. Then those that it writes. For the forward pass
/// this is the order of a profile's columns input_pools and output_pools. Their bytes add up to
/// those of the work. They have no pool yet, which means the device's default memory. An update has
/// no operands.
std::vector<Operand> operands_of(const Model& model, const Layer& layer, Pass pass,
                                 std::int64_t samples, DType dtype);

/// The query for a pass of a layer whose tensors are in the given memories: `pools` has one for
/// each operand, in the order of operands_of(). Throws InputError that names layer and tensor where
/// there are more or fewer, or one is empty.
Query placed_query(const Query& query, const std::vector<std::string>& pools);

}  // namespace sluice
