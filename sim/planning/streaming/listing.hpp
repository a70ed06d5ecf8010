// Turns a choice into the plan of streamed inference.
#pragma once

#include "planning/streaming/rehearsal.hpp"

namespace sluice {

/// Returns the plan in which each load is listed before the slot that the rehearsal has found.
Plan list_rehearsed(const PolicyRequest& request, const CommonParameters& common,
                    const Rehearsal& rehearsal);

/// Returns the plan of the choice that the scenario makes, for the whole device. Loads are listed as early as the
/// device's memory allows. A load waits if there is not enough room yet. Throws Infeasible that says what does not fit
/// and what would fit.
Plan list_as_asked(const PolicyRequest& request, const CommonParameters& common,
                   const StreamedChoice& choice);

}  // namespace sluice
