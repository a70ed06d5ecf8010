// A digest of a problem of placement. Different cuts may lead to the same problem, for example if all activations are
// kept. With the digest, the search for a placement runs only once for these cuts.
#pragma once

#include <string>

#include "planning/placement/placed_question.hpp"

namespace sluice {

/// Returns a digest of the kernels and tensors of the problem. Compare only problems of one model, workload and
/// machine. If two of them have equal digests, the same placement leads to the same actions and tensors in their plans.
/// Only the stages of the plans may differ.
std::string placed_digest(const PlacedQuestion& asked);

}  // namespace sluice
