// A lower bound of the seconds of a streamed run, without a rehearsal.
#pragma once

#include <cstdint>

#include "planning/streaming/groups.hpp"

namespace sluice {

/// Returns a lower bound of the seconds of a run with this choice and at most `most_buffers` buffers. The bound holds
/// for every size of pieces and every `ahead`, because it counts only computations and copies that all these runs have
/// in common. If the platform is a shown machine, the bound is for the real machine (RealCopies).
double seconds_at_least(const StreamedCase& streamed, const StreamedChoice& choice,
                        std::int64_t most_buffers);

}  // namespace sluice
