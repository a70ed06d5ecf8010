// Placements for a policy that plans as if each device had a single memory. Each tensor on a device is in one of two
// memories, and kernels read and write it there. So the device holds more tensors than its first memory alone could
// hold. placed_prices.hpp says which tensors are always in the same memory.
//
// The policy plans for shown machines. In a shown machine, all tensors of a device are in one memory. The rates of this
// memory are those of the first memory or those of the second memory. Its size follows from the model, the cut and the
// workload, so the sizes do not depend on the machine. In training, the policy also chooses the fates of activations
// for the shown machine. Each plan for a shown machine is placed in the two real memories in several ways, which do not
// depend on the sizes of the real memories either. The fastest placed plan that fits is taken. So more memory never
// makes a run slower.
//
// Some policies decide nothing by the memory of a machine (PlansForMachine::fixed). For them, there is one shown
// machine, whose memory is unlimited. The plans of all ways to make the open choices are placed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planning/candidate.hpp"
#include "planning/placement/backing.hpp"

namespace sluice {

inline constexpr const char* static_placement = "static";
inline constexpr const char* first_touch_placement = "first_touch";
inline constexpr const char* all_slow_placement = "all_slow";
/// Placements with moves of weights (moved_weights.hpp) and of other tensors (waiting_tensors.hpp).
inline constexpr const char* synchronous_moves = "synchronous";
inline constexpr const char* asynchronous_moves = "asynchronous";

/// Returns the placements that a policy whose weights take turns can have, in addition to the homes of these weights.
const std::vector<std::string>& placements_of_turns();

struct PlacedTurns {
  const PolicyRequest& request;
  std::string way;  ///< one of placements_of_turns()
  PlansForMachine of_policy;
};

/// Returns the candidates of a run with the placement `way`. With `static` and with moves, the policy's own candidates,
/// which use only the first memory, are among them. The request must outlive the candidates.
std::vector<Candidate> placed_turns_candidates(const PlacedTurns& turns);

/// Returns one candidate for all shown machines. The judge opens it, and gets a candidate for each shown machine. Each
/// candidate has a lower bound of the seconds of its placed plans.
Candidate placed_on_shown_machines(const PlacedTurns& turns);

/// Returns the fastest plan with the placement `turns.way`. Throws Infeasible if no plan fits into the memories.
Draft placed_turns_draft(const PlacedTurns& turns);

}  // namespace sluice
