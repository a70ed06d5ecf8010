// Where a dynamic programme over a chain looks closely: the prices of memory at which choices turn,
// and the boundaries at which long segments split. For sim/plan/passes/frontier.
#pragma once

#include <vector>

#include "fates/chain.hpp"

namespace sluice {

/// Prices (seconds a byte) at which choices of this chain turn: at most `count`, falling.
std::vector<double> turning_prices(const Chain& chain, double copy_price, std::size_t count);

/// Marks the end of the chain and about `count` boundaries, so that between two of them lie about
/// the same seconds and bytes.
std::vector<bool> spread_splits(const Chain& chain, std::size_t count);

}  // namespace sluice
