// Finds prices of memory, and boundaries, for the dynamic programme of frontier.hpp. For each of these prices, the
// programme keeps the schedule with the lowest cost. It splits long segments only at these boundaries.
#pragma once

#include <vector>

#include "fates/chain.hpp"

namespace sluice {

/// The cost of a schedule is its seconds plus its bytes on the device x a price. Returns at most `count` such prices,
/// in seconds per byte and in falling order. From one price to the next, the choices with the lowest cost change.
std::vector<double> turning_prices(const Chain& chain, double copy_price, std::size_t count);

/// Marks the end of the chain and about `count` other boundaries. The marked boundaries divide the chain into parts of
/// about equal size. The size of a part is the mean of three shares: of the chain's stages, of the seconds of all
/// forward passes, and of the bytes of all outputs and inner tensors.
std::vector<bool> spread_splits(const Chain& chain, std::size_t count);

}  // namespace sluice
