// Do two platforms differ in prices alone?
#pragma once

#include "platform/platform.hpp"

namespace sluice {

/// The same devices, memories and links in the same order, joined alike and with the same bytes;
/// FLOP/s, bandwidths, delays and watts may be others. Whoever lists both as a plan gets the same
/// lists.
bool same_but_for_prices(const Platform& a, const Platform& b);

}  // namespace sluice
