// Lower bounds of the seconds in which replicas sum their gradients over a ring (plan/passes/all_reduce.hpp).
#pragma once

#include <string>
#include <vector>

#include "planning/request.hpp"

namespace sluice {

/// Returns a lower bound of the seconds in which the busiest copy engine between two of these devices sends its pieces of
/// the gradients in a run of training. It counts how the engine waits for pieces from the other devices. The gradients of
/// all stages are in the same memory of a device.
double all_reduce_seconds(const PolicyRequest& request, const std::vector<std::string>& devices);

/// As in EqualReplicas.
struct RingSeconds {
  std::vector<double> sums_s;
  double sums_differ_s = 0;
};

/// Returns the seconds for which the device waits that waits longest. Let o be the seconds for which a piece occupies the
/// copy engine of a device, and l its latency. Device k sends 2 (n - 1) pieces, one after the other, and waits for the
/// last of them: 2 (n - 1) o + l. Piece number n - 1 of its own pieces goes around the ring, and is again at device k
/// after n hops. Device k has sent n - 2 pieces before: (n - 2) o, and then the sum of o + l over all hops.
RingSeconds ring_seconds(const PolicyRequest& request, const std::vector<std::string>& devices);

}  // namespace sluice
