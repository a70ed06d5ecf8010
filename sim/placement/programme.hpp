// A placement as a mixed-integer linear programme for CBC. It has a whole variable for each use and
// each gap of a tensor (one per tensor where nothing moves), a row for the fast memory during each
// kernel, and a share for each set of a kernel's operands that may be in slow memory
// (envelope.hpp). Seconds are counted in units of a mean kernel and bytes in units of the capacity,
// because CBC's tolerances are absolute. Source: AutoTM, section 4.2, without its nodes for reads,
// which the gaps express.
#pragma once

#include <optional>

#include "placement/improve.hpp"

namespace sluice {

struct ProgrammeAnswer {
  std::optional<Placing> placing;  ///< a placement that is better than the known one
  bool proven = false;             ///< it is the best one; or nothing is better than what is known
  double bound = 0;
};

/// The number of its whole variables.
std::size_t programme_size(const PlacementQuestion& question, bool moves);

/// Looks only for placements of less than `known` seconds, with at most so many nodes of branch and
/// bound.
ProgrammeAnswer solve_programme(const ImproveRequest& request, double known, int nodes);

/// The programme with tensors that may lie partly in fast memory.
struct RelaxedProgramme {
  double bound = 0;            ///< seconds; computed anew from the prices
  std::vector<double> prices;  ///< s per byte, by kernel
  Placing placing;             ///< rounded; tensors that are not whole may exceed the room
  std::vector<char> whole;     ///< indexed by tensor
};

/// None: the simplex method would have needed more iterations.
std::optional<RelaxedProgramme> relax_programme(const ImproveRequest& request, int iterations);

}  // namespace sluice
