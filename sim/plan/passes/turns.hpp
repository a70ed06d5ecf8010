// Transfers that share a link, one after the other instead of side by side. Shared fairly, an
// urgent load takes twice as long beside one that is not; in turn, the one that began first ends
// first.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// Of the actions that are executed and move bytes over a link that others use, too: in each
/// section each waits for the one before it where they share the link, in the order of `starts` (s,
/// by action; at one time the one listed first).
void take_turns(Plan& plan, const std::vector<double>& starts);

}  // namespace sluice
