// Turns a choice into the plan of streamed inference.
#pragma once

#include "planning/streaming/rehearsal.hpp"

namespace sluice {

/// Lists each load where the rehearsal put it.
Plan list_rehearsed(const PolicyRequest& request, const CommonParameters& common,
                    const Rehearsal& rehearsal);

/// Lists what the scenario asks for, on the whole device: loads are listed as early as the device's memory
/// allows, and wait when there is no room yet. Throws Infeasible, which says what does not fit and what would
/// fit.
Plan list_as_asked(const PolicyRequest& request, const CommonParameters& common,
                   const StreamedChoice& choice);

}  // namespace sluice
