// Makes transfers that share a link run one after the other instead of at the same time. When an urgent load shares a
// link fairly with another load, it takes twice as long. When the two run one after the other, the load that began
// first ends first.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// Adds waits to the actions that move bytes over a link that others also use. Within each section, each of these
/// actions waits for the previous one on the same link, in the order of `starts` (seconds, indexed by action). Actions
/// with equal starts follow the listing order. Actions that never run are left out.
void take_turns(Plan& plan, const std::vector<double>& starts);

}  // namespace sluice
