// The facts of a plan whose tensors are placed in two memories.
#pragma once

#include "plan/fact.hpp"
#include "plan/plan.hpp"
#include "planning/placement/turns/placed_prices.hpp"
#include "planning/placement/turns/placed_turns.hpp"

namespace sluice {

/// Adds the placement method, and the bytes of the tensors that are in each memory.
void say_placement(Plan& plan, const PlacedTurns& turns);

/// Returns the seconds of all kernels of a run.
double kernel_seconds(const Plan& plan);

/// Returns a lower bound of the seconds of all kernels of a run: each pass of a layer has its tensors in those of the
/// two memories in which it is fastest, whatever room they need. So the bound holds for every placement of the plan's
/// tensors, and with any moves and caches. `prices` must be those of the plan's devices. Throws InputError if the cost
/// model has no price for a placement.
double kernel_seconds_at_least(const Plan& plan, const PlacedPrices& prices);

/// Adds the fact `placement_gap`: how far the seconds of all kernels are from this bound. Adds nothing if the cost model
/// lacks a price, or if kernels take no time.
void say_gap(Plan& plan, const PlacedPrices& prices);

/// A policy makes its plan for a shown machine, whose devices have only one memory. Afterwards, the tensors of this plan
/// are placed in two memories. Returns whether the fact may be wrong for the plan with two memories.
bool holds_for_one_memory(const Fact& fact);

}  // namespace sluice
