// A digest of a problem of placement. Different cuts may lead to the same problem, for example if all activations are
// kept. The tensors of the problem need to be placed only once.
#pragma once

#include <string>

#include "planning/placement/placed_question.hpp"

namespace sluice {

/// Returns a digest of the kernels and tensors of the problem. Compare only problems of one model, workload and
/// machine. If their digests are equal, one placement gives both plans equal actions and tensors. Only the stages of
/// the plans may differ.
std::string placed_digest(const PlacedQuestion& asked);

}  // namespace sluice
