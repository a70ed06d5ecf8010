// Turns a choice into the plan of streamed inference.
#pragma once

#include <cstdint>
#include <optional>

#include "planning/streaming/rehearsal.hpp"

namespace sluice {

class StreamedFit;

/// Returns the plan of the rehearsal's choice. The rehearsal says before which slot each load is listed.
Plan list_rehearsed(const PolicyRequest& request, const CommonParameters& common,
                    const Rehearsal& rehearsal);

/// Returns the plan of the choice that the scenario makes, for the whole device. Loads are listed as early as the
/// device's memory allows. A load waits if there is not enough room yet. Throws Infeasible with a message that says
/// what does not fit and what would fit.
Plan list_as_asked(const PolicyRequest& request, const CommonParameters& common,
                   const StreamedChoice& choice);

/// A plan, and the fewest bytes with which the plan has this listing.
struct ListedPlan {
  Plan plan;
  std::int64_t used = 0;
};
/// Returns the plan of `choice` for `streamed`. Loads are listed as early as `room` bytes allow. The run may use the
/// whole device, and its actions wait if there is not enough room yet. If `room` is empty, it is unlimited.
ListedPlan list_within(const PolicyRequest& request, const CommonParameters& common,
                       const StreamedCase& streamed, const StreamedChoice& choice,
                       const StreamedFit& fit, std::optional<std::int64_t> room);

}  // namespace sluice
