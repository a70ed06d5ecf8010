// Finds prices and boundaries for the dynamic programme of frontier.hpp. The programme keeps the best schedule at each
// of these prices, and splits long segments only at these boundaries.
#pragma once

#include <vector>

#include "fates/chain.hpp"

namespace sluice {

/// Returns at most `count` prices in falling order, in seconds per byte. The best choices differ from price to price.
std::vector<double> turning_prices(const Chain& chain, double copy_price, std::size_t count);

/// Marks the end of the chain and about `count` boundaries. Any two neighbours have about the same seconds and bytes
/// between them.
std::vector<bool> spread_splits(const Chain& chain, std::size_t count);

}  // namespace sluice
