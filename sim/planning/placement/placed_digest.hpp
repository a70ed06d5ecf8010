// A digest of a problem of placement. Different cuts may lead to the same problem, for example if all activations are
// kept. With the digest, the search for a placement runs only once for these cuts.
#pragma once

#include <string>

#include "planning/placement/placed_question.hpp"

namespace sluice {

/// Returns a digest of the kernels and tensors of the problem. Compare only problems of one model, workload and
/// machine. Suppose that two of them have equal digests. Then one placement leads to two plans with equal actions and
/// tensors. Only the stages of the plans may differ.
std::string placed_digest(const PlacedQuestion& asked);

}  // namespace sluice
