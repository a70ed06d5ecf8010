// A placement as a mixed-integer linear programme, for CBC: a whole variable for each use and each
// gap of a tensor (one for the tensor where nothing moves), a row for each kernel's fast memory,
// and a share for each set of a kernel's operands that may be in slow memory (envelope.hpp).
// Seconds are counted in units of a mean kernel, bytes in units of the capacity: CBC's tolerances
// are absolute. Source: AutoTM, section 4.2; without its nodes for reads, which the gaps say.
#pragma once

#include <optional>

#include "placement/improve.hpp"

namespace sluice {

struct ProgrammeAnswer {
  std::optional<Placing> placing;  ///< better than what is known
  bool proven = false;             ///< it is the best; or nothing is better than what is known
  double bound = 0;
};

/// How many whole variables it has.
std::size_t programme_size(const PlacementQuestion& question, bool moves);

/// Looks only for what is better than `known` seconds, at most at so many nodes of branch and
/// bound.
ProgrammeAnswer solve_programme(const ImproveRequest& request, double known, int nodes);

/// The programme with tensors that may lie partly in fast memory.
struct RelaxedProgramme {
  double bound = 0;            ///< seconds; worked out anew from the prices
  std::vector<double> prices;  ///< s per byte, by kernel
  Placing placing;             ///< rounded; what is not whole may be too much
  std::vector<char> whole;     ///< by tensor
};

/// None: it took more iterations of the simplex method.
std::optional<RelaxedProgramme> relax_programme(const ImproveRequest& request, int iterations);

}  // namespace sluice
