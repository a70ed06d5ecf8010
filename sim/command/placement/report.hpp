// Makes the answer of `sluice placement`: the slowdown for each size of fast memory (the curve), and the tensors whose
// place changes the time most.
#pragma once

#include <cstddef>

#include "study/placement/curve.hpp"

namespace sluice {

void print_placement(const PlacementCurve& curve, std::size_t top);
void print_placement_csv(const PlacementCurve& curve);
void print_placement_json(const PlacementCurve& curve, std::size_t top);

}  // namespace sluice
