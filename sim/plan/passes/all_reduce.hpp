// Sums the gradients of replicas over a ring before each update; where there is no update, before
// they are saved or added to again.
//
// With n devices and g bytes of gradients of a stage, each device sends 2 (n - 1) pieces of g / n
// bytes to the next one: n - 1 pieces that sum (reduce-scatter) and n - 1 that spread the sums
// (all-gather). A piece can be passed on when it has arrived and the device's own gradients are
// complete. The time without contention, with all gradients ready at once, is 2 (n - 1) (g / (n B)
// + setup + latency). The pieces are summed in place; the buffers in which they arrive are not
// counted, nor is the time of adding.
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

/// Adds the rings to a merged plan of replicas, one on each device of the ring. With `overlap` the
/// ring of a stage begins when the stage's last backward pass of the batch has ended on every
/// device that it needs; otherwise when the whole batch's has. The gradients of stage s are the
/// tensors `<device>/gradients.<s>…` that the stage's last backward pass of a batch sums; each
/// batch has the given number of micro-batches on each device. Each ring is one of the plan's
/// collectives.
void add_all_reduce(Plan& plan, const std::vector<RingHop>& ring, bool overlap,
                    std::int64_t micro_batches);

}  // namespace sluice
