// Gradients of replicas, summed over a ring before each update; without one, before they are saved
// or added to again.
//
// With n devices and g bytes of a stage's gradients, each device sends 2 (n - 1) pieces of g / n to
// the next one: n - 1 that sum (reduce-scatter), n - 1 that spread the sums (all-gather). A piece
// can go on when it has arrived and the device's own gradients are complete. Time without
// contention, all gradients ready at once: 2 (n - 1) (g / (n B) + setup + latency). The pieces are
// summed in place; the buffers that they arrive in are not counted, nor is the time of adding.
//
// Source: Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations
// (2009), section 3.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// From a device to the next one of the ring.
struct RingHop {
  std::string from, to;  ///< devices
  Stream stream;         ///< the copy engine that sends
  Route route;           ///< its links are the plan's
};

/// Adds the rings to a merged plan of replicas, one on each device of the ring.
/// `overlap`: a stage's ring begins when its last backward pass of the batch has ended everywhere
/// that it needs; else when the whole batch's has. Gradients of stage s are the tensors
/// `<device>/gradients.<s>…` that the stage's last backward pass of a batch sums, and a batch has
/// so many micro-batches on each device. Each
/// ring is one of the plan's collectives.
void add_all_reduce(Plan& plan, const std::vector<RingHop>& ring, bool overlap,
                    std::int64_t micro_batches);

}  // namespace sluice
