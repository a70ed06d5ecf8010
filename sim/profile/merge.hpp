// Merges the rows of operators that were measured more than once.
#pragma once

#include "profile/profile.hpp"

namespace sluice {

/// Throws InputError at a row whose key an earlier row has.
void require_distinct(const Profile& profile);

/// Returns the statistics of all samples of `a` and `b`. If `a` or `b` has no samples, the result comes from n, mean
/// and std of both. It then has no median.
Statistics pooled(const Statistics& a, const Statistics& b);

/// Joins rows with equal keys. A measured row takes precedence over a row that is planned or failed. If both rows were
/// measured, their statistics are pooled.
Profile without_repeats(Profile profile);

/// Returns the rows of all profiles, with the header of the first profile. Keys that the header of
/// the first profile lacks come from the headers of the other profiles. The keys `joules` and `idle` say what the
/// joules of a profile mean. If the meanings differ, throws InputError.
Profile merged(const std::vector<Profile>& profiles);

}  // namespace sluice
