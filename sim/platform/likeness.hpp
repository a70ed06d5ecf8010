// Finds out whether two platforms differ only in their rates, delays and watts. These figures change prices.
#pragma once

#include "platform/platform.hpp"

namespace sluice {

/// Returns true if both platforms have the same devices, memories and links in the same order. Their connections and
/// bytes must also be the same. FLOP/s, bandwidths, delays and watts may differ. Plans for two such platforms have the
/// same lists of devices, pools, links and routes.
bool same_but_for_prices(const Platform& a, const Platform& b);

}  // namespace sluice
