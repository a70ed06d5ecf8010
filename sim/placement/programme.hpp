// Describes a placement as a mixed-integer linear programme for the solver CBC. The programme has an integer variable
// for each use and each gap of a tensor. If no tensor moves, it has only one variable per tensor. The programme has a
// row for the bytes in fast memory during each kernel. A kernel may have several sets of operands in slow memory. For
// each set, a variable gives its share (envelope.hpp). CBC's tolerances are absolute. So seconds are in units of the
// mean time of a kernel, and bytes are in units of the capacity. The programme follows AutoTM, section 4.2. The
// variables of gaps replace AutoTM's nodes for reads.
#pragma once

#include <optional>

#include "placement/improve.hpp"

namespace sluice {

struct ProgrammeAnswer {
  /// A placement with less than the `known` seconds. Without a value, no such placement was found.
  std::optional<Placing> placing;
  /// Whether `placing` is proven to be the fastest placement. If `placing` is empty: whether it is proven that no
  /// placement beats the `known` seconds.
  bool proven = false;
  double bound = 0;
};

/// Returns the number of integer variables of the programme.
std::size_t programme_size(const PlacementQuestion& question, bool moves);

/// Searches for placements that take less than `known` seconds, with at most `nodes` nodes of branch and bound.
ProgrammeAnswer solve_programme(const ImproveRequest& request, double known, int nodes);

/// The solution of the relaxed programme. Its variables need not be integers, so a tensor may be partly in fast
/// memory.
struct RelaxedProgramme {
  double bound = 0;            ///< a bound of the seconds, computed from the prices
  std::vector<double> prices;  ///< prices in seconds per byte, indexed by kernel
  Placing placing;             ///< the rounded solution, which may not fit into fast memory
  /// For each tensor, whether rounding changed none of its variables: all were integers.
  std::vector<char> whole;
};

/// Returns the relaxed solution. Returns nothing if the simplex method would need more than `iterations` iterations.
std::optional<RelaxedProgramme> relax_programme(const ImproveRequest& request, int iterations);

}  // namespace sluice
