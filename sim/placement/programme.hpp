// Describes a placement as a mixed-integer linear programme for the solver CBC. The programme has an integer variable
// for each use and each gap of a tensor, or only one variable per tensor if no tensor moves. The programme has a row
// for the bytes in fast memory during each kernel. For each set of operands that a kernel may have in slow memory,
// there is a variable: the share of this set (envelope.hpp). CBC's tolerances are absolute. So seconds are in units of
// the mean time of a kernel, and bytes in units of the capacity. The programme follows AutoTM,
// section 4.2. The variables of gaps replace AutoTM's nodes for reads.
#pragma once

#include <optional>

#include "placement/improve.hpp"

namespace sluice {

struct ProgrammeAnswer {
  /// A placement that takes less than the `known` seconds, or nothing if no such placement was found.
  std::optional<Placing> placing;
  /// Whether the search has proven that no placement is faster than `placing`. If `placing` is
  /// empty: whether it has proven that no placement takes less than the `known` seconds.
  bool proven = false;
  double bound = 0;
};

/// Returns the number of integer variables of the programme.
std::size_t programme_size(const PlacementQuestion& question, bool moves);

/// Searches only for placements that take less than `known` seconds, with at most `nodes` nodes of branch and
/// bound.
ProgrammeAnswer solve_programme(const ImproveRequest& request, double known, int nodes);

/// The solution of the relaxed programme: variables need not be integers, so tensors may be partly in fast
/// memory.
struct RelaxedProgramme {
  double bound = 0;            ///< a bound of the seconds, computed from the prices
  std::vector<double> prices;  ///< prices in seconds per byte, indexed by kernel
  Placing placing;             ///< the rounded solution, which may not fit into fast memory
  /// For each tensor, whether all its variables were integers before they were rounded.
  std::vector<char> whole;
};

/// Returns the relaxed solution, or nothing if the simplex method would need more than `iterations` iterations.
std::optional<RelaxedProgramme> relax_programme(const ImproveRequest& request, int iterations);

}  // namespace sluice
