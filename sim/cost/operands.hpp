// The tensors that a pass of an operator reads and writes.
#pragma once

#include <vector>

#include "cost/cost.hpp"

namespace sluice {

/// What the pass reads: inputs, weights, cache; of a backward pass also what was kept, the output
/// and its gradient; then what it writes. Forward it is the order of a profile's columns
/// input_pools and output_pools. Their bytes sum to those of the work. None has a pool: each lies
/// in the device's default memory until it is said where. An update has none.
std::vector<Operand> operands_of(const Model& model, const Layer& layer, Pass pass,
                                 std::int64_t samples, DType dtype);

/// The query for a pass of a layer whose tensors lie there: `pools` has one for each operand, in
/// the order of operands_of(). Throws InputError naming layer and tensor: there are more or fewer,
/// or one lies nowhere (an empty name).
Query placed_query(const Query& query, const std::vector<std::string>& pools);

}  // namespace sluice
