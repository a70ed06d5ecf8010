// A placement as a mixed-integer linear programme, for CBC: a whole variable for each use and each
// gap of a tensor (one for the tensor where nothing moves), a row for each kernel's fast memory.
// Source: AutoTM, section 4.2; without its nodes for reads, which the gaps say.
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

/// Looks only for what is better than `known` seconds.
ProgrammeAnswer solve_programme(const ImproveRequest& request, double known, double time_limit_s);

}  // namespace sluice
