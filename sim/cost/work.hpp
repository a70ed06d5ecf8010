// The work of a pass of an operator, independent of any device: FLOP, and bytes read and written.
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
  update  ///< of weights by an optimizer: it belongs to no operator
};
std::string_view name_of(Pass pass);

struct Work {
  double flop = 0;
  double bytes = 0;    ///< read and written in memory: inputs, weights, output
  double written = 0;  ///< the part of the bytes that is written: the output, or the gradients
};

/// False for an input, a view, or a backward pass before the first weights: nothing is launched.
bool does_work(const Layer& layer, Pass pass);

/// The forward pass of `layer` for `samples` samples: inputs, cache and weights are read (of a
/// table or of experts at most the picked ones), and the output is written.
Work forward_work(const Model& model, const Layer& layer, std::int64_t samples, DType dtype);

/// The backward pass of `layer`, with its own FLOP: what it keeps, the weights and the output's
/// gradient are read, and the gradients of inputs and weights are written.
Work backward_work(const Model& model, const Layer& layer, std::int64_t samples, DType dtype);

/// Bytes of the weights that a pass of this many samples reads, including those that the layer
/// shares: all, or at most the ones that it picks.
double weight_bytes(const Layer& layer, std::int64_t samples, DType dtype);

/// The work of any pass but an update. A single gradient has its share of the work of both.
Work work_of(const Model& model, const Layer& layer, Pass pass, std::int64_t samples, DType dtype);

/// The share that a pass has in the work of both gradients: by FLOP, or one half where there are
/// none.
double share_of(const Backward& backward, Pass pass);

}  // namespace sluice
