// Makes transfers that share a link run one after the other instead of at the same time. If two loads share a link
// fairly, each takes up to twice as long as alone, even an urgent load. If they run one after the other, the first load
// takes as long as alone.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// Adds waits to the transfers that use a link together with transfers of other streams. Within each section, each of
/// these transfers waits for the previous transfer on its link, in the order of `starts` (seconds, indexed by action).
/// Transfers with equal starts follow the listing order. Transfers with different `ahead` do not wait for each other.
void take_turns(Plan& plan, const std::vector<double>& starts);

}  // namespace sluice
