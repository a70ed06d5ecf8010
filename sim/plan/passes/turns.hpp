// Makes transfers that share a link run one after the other instead of at the same time. If an urgent load shares a
// link fairly with another load, the urgent load takes twice as long as alone. If the two loads run one after the
// other, the load that began first ends first.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// Adds waits to the transfers that use a link together with transfers of other streams. Within each section, each of
/// these transfers waits for the previous transfer on its link, in the order of `starts` (seconds, indexed by action).
/// Transfers with equal starts follow the listing order. Transfers with different `ahead` do not wait for each other.
void take_turns(Plan& plan, const std::vector<double>& starts);

}  // namespace sluice
