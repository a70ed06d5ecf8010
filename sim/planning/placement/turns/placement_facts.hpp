// The facts of a plan whose tensors are placed in two memories.
#pragma once

#include "plan/fact.hpp"
#include "plan/plan.hpp"
#include "planning/placement/turns/placed_turns.hpp"

namespace sluice {

/// Adds the placement method, and the bytes of the tensors that are in each memory.
void say_placement(Plan& plan, const PlacedTurns& turns);

/// A policy makes its plan for a shown machine, whose devices have only one memory. Afterwards, the tensors of this plan
/// are placed in two memories. Returns whether the fact may be wrong for the plan with two memories.
bool holds_for_one_memory(const Fact& fact);

}  // namespace sluice
