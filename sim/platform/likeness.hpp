// Finds out whether two platforms differ in prices alone.
#pragma once

#include "platform/platform.hpp"

namespace sluice {

/// True where both have the same devices, memories and links in the same order, with the same
/// connections and bytes; FLOP/s, bandwidths, delays and watts may differ. A plan has the same
/// lists of devices, pools, links and routes for both.
bool same_but_for_prices(const Platform& a, const Platform& b);

}  // namespace sluice
