// Makes the programs of streamed inference (planning/program.hpp). A program lists one step.
#pragma once

#include "planning/program.hpp"
#include "planning/streaming/rehearsal.hpp"

namespace sluice {

/// Returns the program for the choice that was rehearsed (Rehearsal::choice()). The rehearsal says before which operation
/// each load is listed.
Program rehearsed_program(const PolicyRequest& request, const CommonParameters& common,
                          const Rehearsal& rehearsal);

/// Returns the program for `choice` in which each load is listed as early as memory allows: weights at most `prefetch`
/// groups early, inputs at most `buffers` slots early. Weights that stay are loaded before the first step.
Program program_as_asked(const PolicyRequest& request, const CommonParameters& common,
                         const StreamedCase& streamed, const StreamedChoice& choice);

}  // namespace sluice
