// Solves the relaxation of relaxation.hpp for tensors that are on the device as a whole or not at all. For a price of a
// byte, FateRelaxation also allows a part of a tensor to be on the device.
#pragma once

#include "fates/optimal/relaxation.hpp"

namespace sluice {

/// What the relaxation counts at the turning point: which passes read the boundaries, and the bytes that are left for
/// the tensors of later backward passes.
struct TurningPoint {
  BoundaryReads reads;
  double room = 0;
};
TurningPoint turning_point(const Chain& chain, std::int64_t budget);

/// Returns a lower bound on the seconds of all plans in which all micro-batches in flight have the same fates. Usually,
/// it is at least FateRelaxation::best(). In a long chain, bytes are rounded down, and it may be smaller. If the
/// backward pass of the last stage does not fit, the bound is infinite. `weights` must have no
/// prices of weights that take turns.
double whole_tensors_bound(const Chain& chain, std::int64_t budget, const FateWeights& weights);

}  // namespace sluice
