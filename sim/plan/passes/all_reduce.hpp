// Adds up the gradients of several replicas. For this, pieces of the gradients go around a ring of devices. The
// transfers of one stage's pieces are also called a ring. If a stage has an update, the ring comes before the update.
// If the gradients are saved instead, the ring comes before the save. If the gradients stay on the device, the ring
// comes before the next backward pass that adds to them.
//
// Let n be the number of devices, and g the bytes of a stage's gradients. Each device sends 2 (n - 1) pieces of g / n
// bytes to the next device. The first n - 1 of these pieces add up the gradients (reduce-scatter). The last n - 1
// pieces bring the sums to all devices (all-gather). A device passes on a piece as soon as the piece has arrived and
// the device has completed its own gradients. Let B be the bandwidth from one device to the next device. If all
// gradients are ready at the same time and no link is shared, a ring takes 2 (n - 1) (g / (n B) + setup + latency)
// seconds. The pieces are added in place. Two things are left out: the buffers in which pieces arrive, and the time
// of the additions.
//
// Source: Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations (2009), section 3.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace sluice {

/// The connection from one device to the next device of the ring.
struct RingHop {
  Stream stream;  ///< the copy engine that sends
  Route route;    ///< the route names its links by their numbers in the plan
};
/// Returns the connection from one pool to another. The gradients of a stage may be in any memory of a device.
using RingHops = std::function<RingHop(const std::string& from, const std::string& to)>;

/// Adds the rings to a merged plan that has one replica on each of these devices, in this order. With `overlap`, a
/// device sends a stage's gradients as soon as the stage's backward passes for the batch have ended. Without `overlap`,
/// the device waits for the backward passes of all stages for the batch. Tensor::gradients_of says in which tensor a
/// stage's gradients are summed. A stage without such a tensor gets no ring. On each device, a batch has
/// `micro_batches` micro-batches. Each ring becomes a collective of the plan.
void add_all_reduce(Plan& plan, const std::vector<std::string>& devices, const RingHops& hops,
                    bool overlap, std::int64_t micro_batches);

}  // namespace sluice
