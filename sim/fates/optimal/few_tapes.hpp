// Chooses fates for a plan that is only made to be changed afterwards. The caller makes such plans for many machines,
// budgets and numbers of micro-batches, and places the tensors of each plan in two memories. The tape that is the
// fastest before this change need not be the fastest after it. So it is enough to replay a few tapes of one budget, and
// the tapes for smaller budgets come from the caller's other machines.
#pragma once

#include "fates/strategy.hpp"

namespace sluice {

/// Returns the fastest of a few tapes: tapes of frontiers for several prices of a copy (frontier.hpp), and roundings of
/// the relaxation (rounding.hpp). The tapes that treat every stage alike are only among them if no other tape fits,
/// because the caller tries them anyway. If copies do not overlap with computation, or if no tape was found that fits,
/// the strategy itself chooses. Throws what the strategy throws.
FateChoice choose_among_few(const Chosen<FateStrategy>& strategy, const FateRequest& request);

}  // namespace sluice
