// Makes a plan of streamed inference from a choice (StreamedChoice).
#pragma once

#include <cstdint>
#include <optional>

#include "planning/streaming/rehearsal.hpp"

namespace sluice {

class StreamedFit;

/// Returns the plan for the choice that was rehearsed (Rehearsal::choice()). The rehearsal says before which slot each
/// load is listed.
Plan list_rehearsed(const PolicyRequest& request, const CommonParameters& common,
                    const Rehearsal& rehearsal);

/// Returns the plan for `choice`, without a comparison with other choices. Loads are listed as early as the whole
/// memory of the device allows. A load may have to wait until the memory has room. Throws Infeasible if the choice does
/// not fit. The message says what does not fit and what would fit.
Plan list_as_asked(const PolicyRequest& request, const CommonParameters& common,
                   const StreamedChoice& choice);

/// A plan, and `used`, the fewest bytes of memory with which the loads can be listed as early as in this plan.
struct ListedPlan {
  Plan plan;
  std::int64_t used = 0;
};
/// Returns the plan for `choice`. Loads are listed as early as `room` bytes allow, or without a limit if `room` is
/// empty. But the run may use the whole memory of the device. Its actions may have to wait until the memory has room.
ListedPlan list_within(const PolicyRequest& request, const CommonParameters& common,
                       const StreamedCase& streamed, const StreamedChoice& choice,
                       const StreamedFit& fit, std::optional<std::int64_t> room);

}  // namespace sluice
