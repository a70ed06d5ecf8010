// Makes drafts of streamed inference from a choice (StreamedChoice).
#pragma once

#include <cstdint>
#include <optional>

#include "planning/draft.hpp"
#include "planning/streaming/rehearsal.hpp"

namespace sluice {

struct Program;
class RehearsedStep;

/// Returns the draft for the choice that was rehearsed (Rehearsal::choice()). The rehearsal says before which slot each
/// load is listed. If a round of the step is repeated, it is the body of the plan.
Draft list_rehearsed(const PolicyRequest& request, const CommonParameters& common,
                     const RehearsedStep& rehearsed);

/// Returns the draft for `choice`, without a comparison with other choices. Loads are listed as early as the whole
/// memory of the device allows. A load may have to wait until the memory has room. Throws Infeasible if the choice does
/// not fit. The message says what does not fit and what would fit.
Draft list_as_asked(const PolicyRequest& request, const CommonParameters& common,
                    const StreamedChoice& choice);

/// A draft, and `used`, the fewest bytes of memory with which the loads can be listed as early as in this draft.
struct ListedDraft {
  Draft draft;
  std::int64_t used = 0;
};
/// Returns the draft for `choice`, whose program is `program`. Loads for which the program has no fixed place are
/// listed as early as `room` bytes allow, or without a limit if `room` is empty. But the run may use the whole memory
/// of the device. Its actions may have to wait until the memory has room.
ListedDraft list_within(const PolicyRequest& request, const StreamedCase& streamed,
                        const StreamedChoice& choice, const Program& program,
                        std::optional<std::int64_t> room);

}  // namespace sluice
