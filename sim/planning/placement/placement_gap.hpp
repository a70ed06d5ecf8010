// The fact `placement_gap` of a plan: how far the seconds of its kernels are from a lower bound for other placements of
// the tensors.
#pragma once

#include <string>

#include "planning/request.hpp"

namespace sluice {

/// What a bound holds for that puts each tensor of a kernel where the kernel is fastest.
inline constexpr const char* fastest_kernels =
    "kernels with each tensor in the memory where they are fastest, whatever its room";

/// Adds two facts to the plan: how far `seconds` are from the bound `least`, and what the bound holds for. Adds nothing
/// if kernels take no time.
void add_placement_gap(Plan& plan, double seconds, double least, const std::string& bound_of);

/// Adds these facts to a plan whose tensors are all in the first memories of the devices, unless a device has no second
/// memory of its own or the cost model lacks a price. For the bound, each pass of a layer has each of its tensors in
/// that of the two memories in which it is fastest, whatever room the tensors need. Returns whether facts were added.
bool say_gap_in_first_memories(Plan& plan, const PolicyRequest& request);

}  // namespace sluice
