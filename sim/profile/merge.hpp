// Merges the rows of operators that were measured more than once.
#pragma once

#include "profile/profile.hpp"

namespace sluice {

/// Throws InputError at a row that has the same key as an earlier row.
void require_distinct(const Profile& profile);

/// Returns the statistics of all samples of `a` and `b`. If `a` or `b` has no samples, n, mean and std of both are
/// combined, and the result has no median.
Statistics pooled(const Statistics& a, const Statistics& b);

/// Joins rows with equal keys. A measured row takes precedence over a row that is planned or failed. If both rows were
/// measured, their statistics are pooled.
Profile without_repeats(Profile profile);

/// Returns the rows of all profiles, with the header of the first profile. Keys that the header of
/// the first profile lacks come from the headers of the other profiles. Throws InputError if the
/// joules of the profiles have different meanings, as their keys `joules` and `idle` say.
Profile merged(const std::vector<Profile>& profiles);

}  // namespace sluice
