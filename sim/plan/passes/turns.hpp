// Makes transfers that share a link run one after the other. Two loads that share a link fairly take up to twice as
// long as alone, even if one is urgent. One after the other, the first load takes as long as alone.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// Adds waits to transfers of different streams on the same link. Within each section, a transfer waits for the
/// previous transfer on its link. The order is the order of `starts` (seconds, indexed by action). Transfers with
/// equal starts follow the listing order. Transfers with different `ahead` do not wait for each other.
void take_turns(Plan& plan, const std::vector<double>& starts);

}  // namespace sluice
