// What a lower bound of the run of several equal replicas needs to know about all of them together. The replicas make
// the same copies and computations, each on a device of its own.
#pragma once

#include <vector>

#include "platform/platform.hpp"

namespace sluice {

struct JoinedReplicas;

struct EqualReplicas {
  /// The platform of the request with each replica's share of the links (shared_out()). A link needs as long for the
  /// bytes of all replicas as it needs for the bytes of one replica with this share of its bandwidth.
  const Platform* share = nullptr;
  /// If the platform of the request is a shown machine (planning/placement/backing.hpp): the real machine with these
  /// shares. Otherwise null.
  const Platform* real_share = nullptr;
  /// Indexed by stage: a lower bound of the seconds from the time at which a device has completed its own gradients of
  /// a batch until it has the sums of all replicas. It holds for the device that waits longest. Empty if no gradients
  /// are summed.
  std::vector<double> sums_s = {};
  /// Another device may be the last that begins to compute. If a bound follows this device, the waits of the whole run
  /// for sums count as so many seconds less.
  double sums_differ_s = 0;
  /// Whether a transfer of sums may use a link at the same time as another transfer, and slow it down.
  bool sums_share_links = false;
  /// Whether each way of a replica is simulated with all replicas together before the judge compares it
  /// (policy/settle/all_replicas.hpp).
  bool judged_together = false;
  /// If not null, placements in two memories are compared by the runs of all replicas (planning/joined_replicas.hpp).
  const JoinedReplicas* joined = nullptr;
  /// Whether few ways to list the loads are tried. This is so for replicas that are not equal, because their ways are
  /// simulated for any number of bytes. For them, `share` is the platform of the request: the bounds count one replica.
  bool few_listings = false;
};

}  // namespace sluice
