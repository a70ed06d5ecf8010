// A placement as a mixed-integer linear programme for CBC. It has an integer variable for each use and
// each gap of a tensor (one per tensor if nothing moves). It has a row for the fast memory during each
// kernel. It has a share for each set of a kernel's operands that may be in slow memory (envelope.hpp).
// Seconds are in units of a mean kernel and bytes in units of the capacity, because CBC's tolerances are
// absolute. The programme is that of AutoTM, section 4.2, without its nodes for reads, because the gaps
// express the same.
#pragma once

#include <optional>

#include "placement/improve.hpp"

namespace sluice {

struct ProgrammeAnswer {
  std::optional<Placing> placing;  ///< a placement that is better than the known one
  bool proven = false;             ///< the placement is optimal; or nothing beats the known one
  double bound = 0;
};

/// The number of its integer variables.
std::size_t programme_size(const PlacementQuestion& question, bool moves);

/// Looks only for placements that take less than `known` seconds, with at most `nodes` nodes of branch and
/// bound.
ProgrammeAnswer solve_programme(const ImproveRequest& request, double known, int nodes);

/// The solution of the programme in which tensors may be partly in fast memory.
struct RelaxedProgramme {
  double bound = 0;            ///< seconds; computed again from the prices
  std::vector<double> prices;  ///< seconds per byte, indexed by kernel
  Placing placing;             ///< rounded; tensors that are not integer may exceed the room
  std::vector<char> whole;     ///< per tensor: its variables are integer
};

/// Returns none if the simplex method would have needed more iterations than are allowed.
std::optional<RelaxedProgramme> relax_programme(const ImproveRequest& request, int iterations);

}  // namespace sluice
