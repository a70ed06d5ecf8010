// Makes candidates for the judge from the choices of streamed inference that a scenario leaves open.
#pragma once

#include <memory>

#include "planning/candidate.hpp"
#include "planning/streaming/keys.hpp"

namespace sluice {

/// Returns a candidate for each fate of the boundaries with each number of micro-batches in flight, and candidates with
/// alternating passes. `request`, and all objects to which it refers, must outlive the candidates.
std::vector<Candidate> streamed_candidates(const PolicyRequest& request,
                                           const CommonParameters& common,
                                           const StreamedKeys& keys);

/// Returns a lower bound of the seconds of all these candidates. The bound also holds for a machine with slower copies
/// and kernels, and equally much memory.
double streamed_at_least(const PolicyRequest& request, const CommonParameters& common,
                         const StreamedKeys& keys);

}  // namespace sluice
