// Sums the gradients of replicas over a ring. If a stage has an update, the ring comes before the update. If the
// gradients are saved instead, the ring comes before the save. Otherwise the gradients stay on the device. The ring
// then comes before the next backward pass that adds to them.
//
// Let n be the number of devices, and g the bytes of a stage's gradients. Each device sends 2 (n - 1) pieces of g / n
// bytes to the next device. The first n - 1 pieces sum the gradients (reduce-scatter). The last n - 1 pieces spread
// the sums (all-gather). A device sends a piece on after two events: the piece arrives, and the device completes its
// own gradients. Let B be the bandwidth from a device to the next one. Suppose that all gradients are ready at once
// and no link is shared. Then a ring takes 2 (n - 1) (g / (n B) + setup + latency). The pieces are summed in place.
// The model leaves out the buffers in which pieces arrive, and the time of the additions.
//
// Source: Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations (2009), section 3.
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

/// Adds the rings to a merged plan with one replica on each device of the ring. With `overlap`, a device sends a
/// stage's gradients right after the stage's backward passes for the batch. Without `overlap`, it first ends the
/// backward passes of all stages for the batch. The gradients of stage s on a device are the tensor
/// `<device>/gradients.<s>`. A stage without this tensor gets no ring. Each batch has the given number of
/// micro-batches on each device. Each ring is one of the plan's collectives.
void add_all_reduce(Plan& plan, const std::vector<RingHop>& ring, bool overlap,
                    std::int64_t micro_batches);

}  // namespace sluice
