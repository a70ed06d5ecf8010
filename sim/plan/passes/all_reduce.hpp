// Sums the gradients of replicas over a ring before each update. If the plan has no update, gradients are summed before
// they are saved or before the next backward pass adds to these gradients.
//
// Let n be the number of devices, and g the bytes of gradients of a stage. Each device sends 2 (n - 1) pieces of g / n
// bytes to the next device. The first n - 1 pieces sum the gradients (reduce-scatter), and the last n - 1 pieces spread
// the sums (all-gather). A device can pass a piece on when the piece has arrived and the device's own gradients are
// complete. If all gradients are ready at once and no link is shared, a ring takes 2 (n - 1) (g / (n B) + setup +
// latency), where B is the bandwidth of a hop. The pieces are summed in place. Neither the buffers in which pieces
// arrive nor the time of the additions is counted.
//
// Source: Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations
// (2009), section 3.
#pragma once

#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// The connection from one device to the next device of the ring.
struct RingHop {
  std::string from, to;  ///< devices
  Stream stream;         ///< the copy engine that sends
  Route route;           ///< the route names its links by their numbers in the plan
};

/// Adds the rings to a merged plan with one replica on each device of the ring. With `overlap`, the ring of a
/// stage begins as soon as the stage's last backward pass of the batch has ended on every device that the ring
/// needs. Without `overlap`, the ring begins when the backward passes of all stages have ended. The gradients
/// of stage s are the tensors `<device>/gradients.<s>…` to which the stage's last backward pass of a batch
/// adds. Each batch has the given number of micro-batches on each device. Each ring is one of the plan's
/// collectives.
void add_all_reduce(Plan& plan, const std::vector<RingHop>& ring, bool overlap,
                    std::int64_t micro_batches);

}  // namespace sluice
