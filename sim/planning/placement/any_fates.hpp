// The gap of `optimal` for plans whose tensors are in two memories of a device.
#pragma once

#include <functional>

#include "planning/candidate.hpp"

namespace sluice {

/// Returns the candidate with two more facts in its plans: a lower bound of the seconds of all plans with any fates, and
/// the gap of the plan's seconds to this bound. `bound` computes the bound. It is called when the first plan is made, and
/// only once.
Candidate with_bound_of_any_fates(Candidate candidate, std::function<double()> bound);

}  // namespace sluice
