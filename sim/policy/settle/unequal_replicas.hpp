// Candidates for replicas in training whose devices are not alike, and that share links. Each of them may need another
// way to make its choices: a device with a smaller memory loads more, and a slow device hides more loads. Replicas with
// links of their own choose as if they ran alone: their runs may use the whole memory, which is often faster than a run
// within the bytes of a way.
//
// A way that is the fastest for a replica alone may delay the other replicas. So combinations of ways, with one way for
// each replica, are compared by the runs of all replicas. A combination is named by three things that do not depend on
// the capacities: a replica, its way, and a part. The replica is the slowest if each of them runs alone. Of the ways of
// another replica, the combination has the one with the fewest bytes that takes at most this part of the seconds of the
// slowest. Each run stays within the bytes of its ways. So a larger memory only adds combinations, and never makes the
// run slower.
#pragma once

#include <optional>
#include <string>

#include "planning/candidate.hpp"
#include "policy/policy.hpp"

namespace sluice {

/// Returns the candidate with these keys for `policy:`. `text` says what differs between the keys and the scenario. The
/// result is empty in inference, if a strategy searches for fates, if a device has two memories, if no link is shared,
/// if the devices are alike, and if the replicas make no choices. The candidate holds references to `policy` and
/// `request`. Throws InputError, Infeasible.
std::optional<Candidate> candidate_of_unequal_replicas(const Policy& policy,
                                                       const PolicyRequest& request, Keys keys,
                                                       const std::string& text);

}  // namespace sluice
