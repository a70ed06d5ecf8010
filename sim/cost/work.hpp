// What a pass of an operator does, whatever it takes: FLOP, and bytes read and written.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/dtype.hpp"
#include "model/model.hpp"

namespace sluice {

/// One pass of an operator. A recompute does what a forward does.
enum class Pass : std::uint8_t {
  forward,
  backward,         ///< both gradients
  backward_input,   ///< the gradient of the input alone
  backward_weight,  ///< the gradient of the weights alone
  recompute,
  update  ///< of weights by an optimizer: of no operator
};
std::string_view name_of(Pass pass);

struct Work {
  double flop = 0;
  double bytes = 0;    ///< read and written in memory: inputs, weights, output
  double written = 0;  ///< of the bytes: the output, or the gradients
};

/// False: an input, a view, or a backward pass before the first weights. Nothing is launched.
bool does_work(const Layer& layer, Pass pass);

/// The forward pass of `layer` for `samples` samples: inputs, cache and weights (of a table or of
/// experts those that are picked, at most) are read, the output written.
Work forward_work(const Model& model, const Layer& layer, std::int64_t samples, DType dtype);

/// The backward pass of `layer`: its own FLOP; what it keeps, the weights and the output's gradient
/// are read, the gradients of inputs and weights are written.
Work backward_work(const Model& model, const Layer& layer, std::int64_t samples, DType dtype);

/// Bytes of the weights that a pass of so many samples reads, also of those that the layer shares:
/// all, or at most what it picks.
double weight_bytes(const Layer& layer, std::int64_t samples, DType dtype);

/// Any pass but an update. One gradient takes its part of the work of both.
Work work_of(const Model& model, const Layer& layer, Pass pass, std::int64_t samples, DType dtype);

/// The part that a pass has in the work of both gradients: by FLOP, and half where there are none.
double share_of(const Backward& backward, Pass pass);

}  // namespace sluice
