// Computes the bytes of the tensors of a training batch: of all tensors at once, and of the stage
// with the most bytes.
#pragma once

#include <cstdint>

#include "planning/request.hpp"

namespace sluice {

struct BatchBytes {
  /// All tensors of a batch at once: weights, gradients, optimizer state, and the activations and gradients of all
  /// micro-batches, with the workspace of one of them.
  std::int64_t all = 0;
  /// The tensors of the stage that has the most bytes with one micro-batch.
  std::int64_t largest_stage = 0;
};

/// Throws InputError on overflow.
BatchBytes batch_bytes(const PolicyRequest& request, const Device& device, bool overlap);

}  // namespace sluice
