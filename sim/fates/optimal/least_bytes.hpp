// Computes a proven lower bound on the bytes that a chain needs.
#pragma once

#include <cstdint>

#include "fates/chain.hpp"

namespace sluice {

/// Returns a lower bound on the peak of any tape. Each stage runs forward and backward at least
/// once, for all fates. While a pass runs, the device holds the tensors that the pass reads and
/// makes, and the workspace of the pass.
std::int64_t least_bytes_bound(const Chain& chain);

}  // namespace sluice
