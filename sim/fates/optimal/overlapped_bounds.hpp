// Lower bounds on the seconds of a micro-batch and of a whole run, if copies run during computation (bound.hpp).
#pragma once

#include <cstdint>

#include "fates/optimal/bound.hpp"

namespace sluice {

/// Lower bounds in seconds. Both bounds follow from the same FateWeights, so one search for these weights gives both
/// bounds. `micro_batch` equals fate_bound(), and `run` equals run_bound_within().
struct OverlappedBounds {
  double micro_batch = 0, run = 0;
};
OverlappedBounds overlapped_bounds(const Chain& chain, const FateRun& run, std::int64_t budget);

}  // namespace sluice
