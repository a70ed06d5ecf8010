// Rows of the same thing, measured more than once.
#pragma once

#include "profile/profile.hpp"

namespace sluice {

/// Throws InputError at a row whose key an earlier one has.
void require_distinct(const Profile& profile);

/// Both statistics as of one series: samples side by side; where one has none, n, mean and std of
/// both together, and no median.
Statistics pooled(const Statistics& a, const Statistics& b);

/// Rows with equal keys become one. What was measured stands before what is planned or failed; of
/// what was measured twice the statistics are pooled.
Profile without_repeats(Profile profile);

/// The rows of all of them; the header of the first, whose keys the others fill in. Throws
/// InputError: their joules are not of the same kind (joules, idle).
Profile merged(const std::vector<Profile>& profiles);

}  // namespace sluice
