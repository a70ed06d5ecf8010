// Placements for a policy whose weights take turns on the device. Each tensor on the device is in one of two memories,
// and kernels read and write it there. So the device holds more tensors than its first memory alone could hold.
// placed_kinds.hpp says which tensors are always in the same memory.
//
// The policy plans for shown machines. On a shown machine, all tensors are in one memory of the device. This memory is
// as fast as the first or the second memory of the real device. Its size is a fixed share of all bytes of a step. The
// tensors of each plan for a shown machine are then placed in the two real memories in several ways. Of these placed
// plans, the fastest that fits is taken. The sizes of shown machines and the ways do not depend on the sizes of the
// real memories. So more memory never makes a run slower.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planning/candidate.hpp"
#include "planning/placement/backing.hpp"

namespace sluice {

/// Returns those values of the key `placement` that place single tensors, for a policy whose weights take turns. The
/// other values of the key name homes of the weights.
const std::vector<std::string>& placements_of_turns();

struct PlacedTurns {
  const PolicyRequest& request;
  CommonParameters common;
  std::string way;  ///< one of placements_of_turns()
  PlansForMachine of_policy;
};

/// Returns the candidates of a run with the placement `way`. With `static`, the policy's own candidates, which use only
/// the first memory, are among them. The request must outlive the candidates.
std::vector<Candidate> placed_turns_candidates(const PlacedTurns& turns);

/// Returns the fastest plan with the placement `way`. Throws Infeasible if no plan fits into the two memories.
Draft placed_turns_draft(const PlacedTurns& turns);

}  // namespace sluice
