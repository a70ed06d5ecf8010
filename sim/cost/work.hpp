// The work of an operator's pass: FLOP, and read and written bytes. The work is the same on every device.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/dtype.hpp"
#include "model/model.hpp"

namespace sluice {

/// One pass of an operator. A recompute does the same work as a forward pass.
enum class Pass : std::uint8_t {
  forward,
  backward,        ///< the gradient of the input and the gradient of the weights
  backward_input,  ///< the part of the backward pass that computes only the gradient of the input
  /// The part of the backward pass that computes only the gradient of the weights.
  backward_weight,
  recompute,
  update  ///< the update of weights by an optimizer, which does not belong to an operator
};
std::string_view name_of(Pass pass);

struct Work {
  double flop = 0;
  /// The bytes that are read and written in memory: inputs, weights, output and so on.
  double bytes = 0;
  double written = 0;  ///< the bytes that are written (the output, or the gradients)
};

/// Returns whether a pass launches a kernel. Inputs and views launch no kernel. The backward pass
/// of a layer launches a kernel only if this layer or an earlier layer has weights.
bool does_work(const Layer& layer, Pass pass);

/// Returns the work of the forward pass of `layer` for `samples` samples. The pass reads inputs, cache and weights, and
/// writes the output. If the weights are a table or the matrices of experts, the pass reads only the rows or matrices
/// that the samples select.
Work forward_work(const Model& model, const Layer& layer, std::int64_t samples, DType dtype);

/// Returns the work of the backward pass of `layer`. The pass reads the weights, the output's gradient, and those
/// inputs, outputs and kept tensors that its gradients need. It writes the gradients of inputs and weights.
Work backward_work(const Model& model, const Layer& layer, std::int64_t samples, DType dtype);

/// Returns the bytes of weights that a pass over `samples` samples reads, including weights shared with other layers.
/// If the weights are a table or the matrices of experts, the pass reads only the rows or matrices that the samples
/// select. Otherwise it reads all weights.
double weight_bytes(const Layer& layer, std::int64_t samples, DType dtype);

/// Returns the work of any pass except an update. A pass that computes only one of the two gradients (of the input, or
/// of the weights) has a share of the work of the backward pass.
Work work_of(const Model& model, const Layer& layer, Pass pass, std::int64_t samples, DType dtype);

/// Returns the share of a pass in the work of both gradients: the FLOP of the pass divided by the FLOP of both
/// gradients. If both gradients have 0 FLOP, the share is one half. Returns 1 for a pass that computes both gradients,
/// and for a pass that computes none.
double share_of(const Backward& backward, Pass pass);

}  // namespace sluice
