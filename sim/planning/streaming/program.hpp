// Makes the programs of streamed inference (planning/program.hpp). A program lists one step.
#pragma once

#include "planning/program.hpp"
#include "planning/streaming/rehearsal.hpp"

namespace sluice {

/// Returns the program for the choice that was rehearsed (Rehearsal::choice()), with these loads.
Program rehearsed_program(const PolicyRequest& request, const CommonParameters& common,
                          const Rehearsal& rehearsal, const std::vector<RehearsedLoad>& loads);

/// Returns the program for `choice` in which each load is listed as early as memory allows: weights at most `prefetch`
/// groups early, inputs at most `buffers` slots early. Weights that stay are loaded before the first step. With `rounds`,
/// the step has only this many rounds of a long step (pass_rounds()).
Program program_as_asked(const PolicyRequest& request, const CommonParameters& common,
                         const StreamedCase& streamed, const StreamedChoice& choice,
                         std::optional<std::int64_t> rounds = {});

}  // namespace sluice
