// Placements for a policy whose weights take turns on the device. The tensors on the device are in its two memories,
// and kernels read and write them there. So two memories hold more tensors than the first memory alone.
// placed_kinds.hpp says which tensors share a memory.
//
// The policy plans for shown machines. In a shown machine, all tensors are in one memory of the device. This memory is
// as fast as the first or the second real memory. Its size is a fixed share of the bytes of the whole step. Each plan
// for a shown machine is placed in the two real memories in several ways. The shown sizes and these ways do not depend
// on the sizes of the real memories. The fastest placed plan that fits is taken. So more memory never makes a run
// slower.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planning/candidate.hpp"
#include "planning/placement/backing.hpp"

namespace sluice {

/// Returns the placements of single tensors for a policy whose weights take turns. The homes of the weights are further
/// values of the key.
const std::vector<std::string>& placements_of_turns();

struct PlacedTurns {
  const PolicyRequest& request;
  CommonParameters common;
  std::string way;  ///< one of placements_of_turns()
  PlansForMachine of_policy;
};

/// Returns the candidates of a run with this placement. The request must outlive the candidates. `static` also has the
/// candidates of the policy that need only the first memory.
std::vector<Candidate> placed_turns_candidates(const PlacedTurns& turns);

/// Returns the fastest plan with this placement. Throws Infeasible if no plan fits into the two memories.
Draft placed_turns_draft(const PlacedTurns& turns);

}  // namespace sluice
