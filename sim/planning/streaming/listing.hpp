// Turns a choice into the plan of streamed inference.
#pragma once

#include "planning/streaming/rehearsal.hpp"

namespace sluice {

/// As rehearsed: each load is where the rehearsal put it.
Plan list_rehearsed(const PolicyRequest& request, const Common& common, const Rehearsal& rehearsal);

/// Everything as asked for, on the whole device: loads are listed as early as its memory allows,
/// and wait where there is no room yet. Throws Infeasible that says what does not fit, and what
/// would.
Plan list_as_asked(const PolicyRequest& request, const Common& common,
                   const StreamedChoice& choice);

}  // namespace sluice
