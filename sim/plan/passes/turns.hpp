// Makes transfers that share a link take turns instead of running side by side. With fair sharing
// an urgent load takes twice as long beside one that is not urgent; in turns, the one that began
// first ends first.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// Concerns the actions that are executed and move bytes over a link that others also use: within
/// each section, each of them waits for the one before it where they share the link, in the order
/// of `starts` (seconds, by action; at equal times the one listed first).
void take_turns(Plan& plan, const std::vector<double>& starts);

}  // namespace sluice
