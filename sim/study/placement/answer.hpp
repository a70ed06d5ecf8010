// The answer of a placement curve for other programs: rows and documents, as the command prints
// them and as Python reads them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "document/value.hpp"
#include "study/placement/curve.hpp"

namespace sluice {

/// The keys of a row, in their order.
const std::vector<std::string>& placement_columns();

/// A result as a mapping with some of these keys; a key that it lacks says nothing for this way.
Value placement_row(const PlacementCurve& curve, const PlacementResult& result);

/// The static placement in the most memory that is at most half of what is needed, or the first;
/// nullptr where none was asked for or none fits. Its tensors are shown where nobody says which.
const PlacementResult* placement_of_worths(const PlacementCurve& curve);

/// Its `top` tensors that matter most, each with bytes, class, memory and worth_s: the seconds that
/// are lost were it in slow memory, or won were it in fast memory, all others staying where they
/// are. Counted without moves. Throws UsageError where the result has no placement: it was refused,
/// or it is the cache's.
Value worth_rows(const PlacementCurve& curve, const PlacementResult& result, std::size_t top);

/// Everything, as the command prints it with --json.
Value placement_document(const PlacementCurve& curve, std::size_t top);

}  // namespace sluice
