// Digests of plans, by which equal plans are found. Different plans practically never have the same digest.
#pragma once

#include <string>

#include "plan/plan.hpp"

namespace sluice {

/// Returns a text that is the same for plans whose runs are equal on every machine with the same routes. Names and
/// facts do not count, and neither do the bandwidths of links.
std::string run_digest(const Plan& plan);

/// Returns a digest of everything in a policy's plan that a placement keeps. It leaves out the capacities and limits of
/// memories, the seconds of computations, and the routes of transfers: for a placed plan, they come from the real
/// machine. Compare only plans of one cut, workload and machine. If two of them have equal digests, each placement
/// makes the same plan of both, except for its facts.
std::string digest_to_place(const Plan& plan);

}  // namespace sluice
