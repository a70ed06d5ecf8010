// Describes a placement as a mixed-integer linear programme for the solver CBC. The programme has an integer variable
// for each use and each gap of a tensor. If tensors may not move, it has only one variable per tensor. For each kernel,
// a row limits the bytes in fast memory. A kernel's operands in slow memory are a mixture of sets: for each set, a
// variable gives the share of this set in the mixture, from 0 to 1 (envelope.hpp). CBC's tolerances are absolute
// numbers. So seconds are in units of the mean time of a kernel, and bytes are in units of the capacity. The programme
// follows AutoTM, section 4.2, with variables for gaps instead of AutoTM's nodes for reads.
#pragma once

#include <optional>

#include "placement/improve.hpp"

namespace sluice {

/// The answer of solve_programme(), which looks only for placements that take less than `known` seconds.
struct ProgrammeAnswer {
  /// A placement that takes less than `known` seconds. Empty if no such placement was found.
  std::optional<Placing> placing;
  /// Whether it is proven that `placing` is the fastest placement. If `placing` is empty: whether it is proven that no
  /// placement takes less than the `known` seconds.
  bool proven = false;
  double bound = 0;
};

/// Returns the number of integer variables of the programme.
std::size_t programme_size(const PlacementQuestion& question, bool moves);

/// Searches for the fastest placement among those that take less than `known` seconds. The search has at most `nodes`
/// nodes of branch and bound.
ProgrammeAnswer solve_programme(const ImproveRequest& request, double known, int nodes);

/// The solution of the relaxed programme. In the relaxed programme, the variables need not be integers. So a tensor may
/// be partly in fast memory.
struct RelaxedProgramme {
  double bound = 0;            ///< a bound of the seconds, computed from the prices
  std::vector<double> prices;  ///< prices in seconds per byte, indexed by kernel
  Placing placing;             ///< the rounded solution, which may not fit into fast memory
  /// For each tensor, whether all its variables were integers before rounding.
  std::vector<char> whole;
};

/// Solves the relaxed programme. Returns nothing if the simplex method needs more than `iterations` iterations.
std::optional<RelaxedProgramme> relax_programme(const ImproveRequest& request, int iterations);

}  // namespace sluice
