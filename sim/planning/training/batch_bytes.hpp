// Computes the bytes of the tensors of a training batch: of all tensors at once, and of the stage
// with the most bytes.
#pragma once

#include <cstdint>

#include "planning/program.hpp"
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

/// Returns whether host memory has room for the tensors of a training step whose home it is. If the host memory of a
/// shown machine is the second memory of the real machine (planning/placement/backing.hpp), the home of the inputs is
/// another memory. Looks at the capacity even if the request does not enforce it.
bool homes_fit(const PolicyRequest& request, const Program& step);

}  // namespace sluice
