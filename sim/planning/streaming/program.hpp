// Makes the programs of streamed inference (planning/program.hpp). A program lists one step.
#pragma once

#include "planning/program.hpp"
#include "planning/streaming/rehearsal.hpp"

namespace sluice {

/// Returns the program for the choice that was rehearsed (Rehearsal::choice()), with these loads.
Program rehearsed_program(const PolicyRequest& request, const CommonParameters& common,
                          const Rehearsal& rehearsal, const std::vector<RehearsedLoad>& loads);

/// Returns the program for `choice` in which each load is listed as early as memory allows: weights at most `prefetch`
/// groups early, inputs at most `buffers` slots early. Weights that stay are loaded before the first step. If
/// `shorter` is given, the program is for this step.
Program program_as_asked(const PolicyRequest& request, const CommonParameters& common,
                         const StreamedCase& streamed, const StreamedChoice& choice,
                         const std::optional<SomeRounds>& shorter = {});

}  // namespace sluice
