// Makes transfers that share a link run one after the other instead of at the same time. With fair
// sharing, an urgent load that shares a link with another load takes twice as long; one after the
// other, the load that began first ends first.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// Applies to actions that are executed and move bytes over a link that others also use. Within
/// each section, each of them waits for the previous one on the same link, in the order of `starts`
/// (seconds, indexed by action; actions with equal starts follow the listing order).
void take_turns(Plan& plan, const std::vector<double>& starts);

}  // namespace sluice
