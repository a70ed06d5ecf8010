// The work of a pass of an operator on any device: its FLOP, and the bytes that it reads and writes.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/dtype.hpp"
#include "model/model.hpp"

namespace sluice {

/// One pass of an operator. A recompute does the same work as a forward pass.
enum class Pass : std::uint8_t {
  forward,
  backward,         ///< both gradients
  backward_input,   ///< only the gradient of the input
  backward_weight,  ///< only the gradient of the weights
  recompute,
  update  ///< of weights by an optimizer; it does not belong to an operator
};
std::string_view name_of(Pass pass);

struct Work {
  double flop = 0;
  double bytes = 0;    ///< read and written in memory: inputs, weights, output
  double written = 0;  ///< the part of the bytes that is written: the output, or the gradients
};

/// Returns false for an input, a view, or a backward pass before the first weights: they launch nothing.
bool does_work(const Layer& layer, Pass pass);

/// Returns the work of the forward pass of `layer` for `samples` samples. The pass reads inputs, cache and weights, and
/// writes the output. Of a table or of experts, it reads at most the rows or matrices that the samples pick.
Work forward_work(const Model& model, const Layer& layer, std::int64_t samples, DType dtype);

/// Returns the work of the backward pass of `layer`, with its own FLOP. It reads what was kept, the
/// weights and the output's gradient, and writes the gradients of inputs and weights.
Work backward_work(const Model& model, const Layer& layer, std::int64_t samples, DType dtype);

/// Returns the bytes of the weights that a pass of this many samples reads, including those that the layer shares. It
/// reads all of them, or at most the ones that it picks.
double weight_bytes(const Layer& layer, std::int64_t samples, DType dtype);

/// Returns the work of any pass except an update. A pass for one of the two gradients has that gradient's share.
Work work_of(const Model& model, const Layer& layer, Pass pass, std::int64_t samples, DType dtype);

/// Returns the share of a pass in the work of both gradients. It is the share of the FLOP, or one half if there are no
/// FLOP.
double share_of(const Backward& backward, Pass pass);

}  // namespace sluice
