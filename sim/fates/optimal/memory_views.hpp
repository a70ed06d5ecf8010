// If several devices take turns, each device has a memory of its own. The relaxation has a single constraint on bytes.
// Views of a chain turn the constraints of the devices into one: their weighted sum.
#pragma once

#include <vector>

#include "fates/chain.hpp"

namespace sluice {

/// Returns chains with other bytes. A lower bound on the seconds of any of these chains within a budget is also a lower
/// bound on the seconds of `chain` within this budget, if each of the n devices has an n-th of the budget. The first
/// chain is `chain` itself, in which all memories count as one. If there is only one device, it is the only one.
///
/// Each device k has a weight, and the sum of the weights is n. A view multiplies the bytes of a tensor by the weight of
/// the device that holds it. If a tensor may be on several devices, its least weight counts. On device k, the bytes are
/// at most b / n, where b is the budget. So the weighted sum of the bytes of all devices is at most b.
std::vector<Chain> memory_views(const Chain& chain);

}  // namespace sluice
