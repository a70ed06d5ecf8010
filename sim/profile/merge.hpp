// Merges rows of the same operator that were measured more than once.
#pragma once

#include "profile/profile.hpp"

namespace sluice {

/// Throws InputError at a row that has the same key as an earlier one.
void require_distinct(const Profile& profile);

/// Both statistics as those of one series: the samples of both. Where one has no samples, n, mean
/// and std of both are combined, and there is no median.
Statistics pooled(const Statistics& a, const Statistics& b);

/// Rows with equal keys become one. A measured row takes precedence over one that is planned or
/// failed; where both were measured, their statistics are pooled.
Profile without_repeats(Profile profile);

/// The rows of all profiles, with the header of the first; the others add keys that it lacks.
/// Throws InputError where their joules are not of the same kind (joules, idle).
Profile merged(const std::vector<Profile>& profiles);

}  // namespace sluice
