// The answer about a placement curve as rows and as documents, which programs can read. The command `sluice placement`
// prints these rows and documents, and the Python package reads them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "document/value.hpp"
#include "study/placement/curve.hpp"

namespace sluice {

/// The keys of a row, in the order of the columns.
const std::vector<std::string>& placement_columns();

/// Returns the row of a result as a mapping. If the method of the result was refused, the row has the reason, but no
/// times and no moves.
Value placement_row(const PlacementCurve& curve, const PlacementResult& result);

/// Returns the static placement whose tensors are shown unless the user chooses another placement. This is the
/// placement for the largest memory that has at most half of the needed bytes. If there is no such placement, this is
/// the first static placement. Returns nullptr if no static placement was requested, or if no static placement fits.
const PlacementResult* placement_of_worths(const PlacementCurve& curve);

/// Returns the `top` tensors with the largest worth_s, each with its bytes, class and memory. For a tensor in fast
/// memory, worth_s are the seconds that the run would lose with this tensor in slow memory. For a tensor in slow
/// memory, worth_s are the seconds that the run would gain with this tensor in fast memory. All other tensors stay
/// where they are, and the seconds of moves are not counted. Throws UsageError when the result has no placement,
/// because its method was refused, or is the method `cached`.
Value worth_rows(const PlacementCurve& curve, const PlacementResult& result, std::size_t top);

/// Returns the whole answer, as `sluice placement --json` prints it.
Value placement_document(const PlacementCurve& curve, std::size_t top);

}  // namespace sluice
