// Merges the rows of operators that were measured more than once.
#pragma once

#include "profile/profile.hpp"

namespace sluice {

/// Throws InputError if two rows of the profile have the same key.
void require_distinct(const Profile& profile);

/// Returns the statistics of all samples of `a` and `b` together. If `a` or `b` has no samples, the result is computed
/// from n, mean and std of `a` and of `b`. The result then has no median.
Statistics pooled(const Statistics& a, const Statistics& b);

/// Turns all rows with equal keys into one row. A measured row takes precedence over a row that is planned or failed.
/// If several of these rows were measured, their statistics are pooled.
Profile without_repeats(Profile profile);

/// Returns the rows of all profiles, with the header of the first profile. Keys that the header of
/// the first profile lacks come from the headers of the other profiles. The keys `joules` and `idle` of a header say
/// what the joules of the profile mean. If the joules of two profiles have different meanings, throws InputError.
Profile merged(const std::vector<Profile>& profiles);

}  // namespace sluice
