// Computes a proven lower bound on the bytes that a chain needs.
#pragma once

#include <cstdint>

#include "fates/chain.hpp"

namespace sluice {

/// Returns a lower bound on the peak of any tape. Each stage runs forward and backward at least
/// once, for all fates. During a pass, the device holds its workspace and all tensors that it reads
/// or makes.
std::int64_t least_bytes_bound(const Chain& chain);

}  // namespace sluice
