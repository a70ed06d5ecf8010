// Finds out whether two platforms differ only in numbers that change prices: in rates, delays and watts.
#pragma once

#include "platform/platform.hpp"

namespace sluice {

/// Returns whether both platforms have the same devices, memories and links, in the same order, connected in the same
/// way, and with the same capacities. FLOP/s, bandwidths, delays and watts may differ. Plans for two such platforms
/// have the same lists of devices, pools, links and routes.
bool same_but_for_prices(const Platform& a, const Platform& b);

}  // namespace sluice
