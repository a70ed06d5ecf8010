// A proven lower bound on the bytes that a chain needs.
#pragma once

#include <cstdint>

#include "fates/chain.hpp"

namespace sluice {

/// No tape needs fewer bytes at its peak. Each stage runs forward and backward at least once, whatever is kept,
/// recomputed or offloaded. While a pass runs, the device holds what the pass reads, what it makes, and its workspace.
std::int64_t least_bytes_bound(const Chain& chain);

}  // namespace sluice
