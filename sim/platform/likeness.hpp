// Finds out whether two platforms differ only in prices, which are rates, delays and watts.
#pragma once

#include "platform/platform.hpp"

namespace sluice {

/// Returns true if both have the same devices, memories and links in the same order, with the same connections and
/// bytes. FLOP/s, bandwidths, delays and watts may differ. A plan then has the same lists of devices, pools, links and
/// routes on both.
bool same_but_for_prices(const Platform& a, const Platform& b);

}  // namespace sluice
