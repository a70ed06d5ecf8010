// Computes a proven lower bound on the bytes of device memory that a chain needs.
#pragma once

#include <cstdint>

#include "fates/chain.hpp"

namespace sluice {

/// Returns a lower bound on the peak of any tape. Whatever the fates are, each stage has at least
/// one forward pass and one backward pass. During a pass, the device holds the workspace of the
/// pass and all tensors that the pass reads or makes.
std::int64_t least_bytes_bound(const Chain& chain);

}  // namespace sluice
