// The tensors that a pass of an operator reads and writes.
#pragma once

#include <string>
#include <vector>

#include "cost/cost.hpp"

namespace sluice {

/// Returns the operands of a pass: first the read operands, then the written operands. A forward pass reads inputs,
/// weights and cache. A backward pass reads the weights, the output's gradient, and those inputs, outputs and kept
/// tensors that its gradients need. The columns input_pools and output_pools of a profile name the memories of the
/// forward pass's operands in this order. The bytes of the operands add up to the bytes of the pass (see work_of()). In
/// the result, each operand has an empty `pool`, which means the device's default memory. An update has no operands.
std::vector<Operand> operands_of(const Model& model, const Layer& layer, Pass pass,
                                 std::int64_t samples, DType dtype);

/// Returns the beginning of a sentence about an operand: "weights of 'conv1' are" or "input 'x' is".
std::string operand_is(const Operand& operand);

/// Returns a copy of the query that has the operands of its pass. Each operand is in the memory that `pools` gives for
/// it. `pools` has one memory per operand, in the order of operands_of(). If a memory is missing or has no name, throws
/// an InputError, whose message names the layer and the tensor.
Query placed_query(const Query& query, const std::vector<std::string>& pools);

}  // namespace sluice
