// The answer about a placement curve, as rows and as documents. Programs can read both. The command `sluice placement`
// prints them, and the Python package reads them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "document/value.hpp"
#include "study/placement/curve.hpp"

namespace sluice {

/// The keys of a row, in the order of the columns.
const std::vector<std::string>& placement_columns();

/// Returns the row of a result as a mapping. If the method of the result was refused, the row has the reason instead of
/// times and moves.
Value placement_row(const PlacementCurve& curve, const PlacementResult& result);

/// By default, the tensors of a static placement are shown. Returns this placement. It is the placement for the largest
/// memory that has at most half of the needed bytes. If there is none, it is the first static placement. If no static
/// placement was requested or none fits, returns nullptr.
const PlacementResult* placement_of_worths(const PlacementCurve& curve);

/// Returns the `top` tensors with the largest worth_s, each with its bytes, class and memory. For worth_s, one tensor
/// goes to the other memory, and all other tensors stay. A tensor in fast memory goes to slow memory: worth_s are the
/// seconds that the run loses. A tensor in slow memory goes to fast memory: worth_s are the seconds that the run gains.
/// The seconds of moves do not count. Throws UsageError if the result has no placement: its method was refused, or is
/// `cached`.
Value worth_rows(const PlacementCurve& curve, const PlacementResult& result, std::size_t top);

/// Returns the whole answer, as `sluice placement --json` prints it.
Value placement_document(const PlacementCurve& curve, std::size_t top);

}  // namespace sluice
