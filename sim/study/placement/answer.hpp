// The answer of a placement curve for other programs. It has rows and documents, as the command prints them and as
// Python reads them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "document/value.hpp"
#include "study/placement/curve.hpp"

namespace sluice {

/// The keys of a row, in their order.
const std::vector<std::string>& placement_columns();

/// A result as a mapping with some of these keys; a key is absent if it does not apply to this
/// method.
Value placement_row(const PlacementCurve& curve, const PlacementResult& result);

/// Returns the static placement whose tensors are shown unless the user chooses another placement. It is the one for
/// the largest memory that is at most half of what is needed, or else the first static one. Returns nullptr if none was
/// requested or none fits.
const PlacementResult* placement_of_worths(const PlacementCurve& curve);

/// Returns the `top` tensors that matter most, each with bytes, class, memory and worth_s. If the tensor is in fast
/// memory, worth_s are the seconds that would be lost without this. If it is in slow memory, they are the seconds that
/// fast memory would gain. All other tensors stay where they are, and moves are not counted. Throws UsageError when the
/// result has no placement, because it was refused or is that of the cache.
Value worth_rows(const PlacementCurve& curve, const PlacementResult& result, std::size_t top);

/// The whole answer, as the command prints it with --json.
Value placement_document(const PlacementCurve& curve, std::size_t top);

}  // namespace sluice
