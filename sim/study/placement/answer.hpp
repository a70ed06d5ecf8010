// The answer of `sluice placement` as rows and as a document that programs can read. The command prints them, and the
// Python package reads them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "document/value.hpp"
#include "study/placement/curve.hpp"

namespace sluice {

/// The keys of a row, in the order of the columns.
const std::vector<std::string>& placement_columns();

/// Returns the row of a result as a mapping. If the method of the result gave no placement, the row has the reason
/// instead of times and moves.
Value placement_row(const PlacementCurve& curve, const PlacementResult& result);

/// Returns the static placement whose tensors are shown by default: the placement for the largest fast memory that has
/// at most half of the needed bytes. If there is no such placement, returns the first static placement. If no static
/// placement was requested or none fits, returns nullptr.
const PlacementResult* placement_of_worths(const PlacementCurve& curve);

/// Returns the `top` tensors with the largest worth_s, each with its bytes, class and memory. worth_s of a tensor says
/// what happens if only this tensor goes to the other memory. For a tensor in fast memory, it is the number of seconds
/// by which the run gets slower. For a tensor in slow memory, it is the number of seconds by which the run gets faster.
/// The seconds of moves do not count. Throws UsageError if the result has no placement: its method was refused, or is
/// `cached`.
Value worth_rows(const PlacementCurve& curve, const PlacementResult& result, std::size_t top);

/// Returns the whole answer, as `sluice placement --json` prints it.
Value placement_document(const PlacementCurve& curve, std::size_t top);

}  // namespace sluice
