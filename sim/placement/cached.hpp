// Runs kernels with fast memory as a direct-mapped hardware cache of slow memory, like the memory mode of Optane. The
// order of the kernels is known, so hits, misses and write-backs are computed from a map of addresses. A cache line
// that is used and is not in the cache replaces another line. If the replaced line was changed, it is written back. The
// arithmetic counts bytes instead of lines, because tensors are much larger than lines.
//
// The costs of each kind of access are from Hildebrand et al., A Case Against Hardware Managed DRAM Caches for NVRAM
// Based Systems (ISPASS 2021).
#pragma once

#include <vector>

#include "placement/problem.hpp"

namespace sluice {

struct CachedRun {
  double seconds = 0;
  double hit_bytes = 0, miss_bytes = 0, written_back_bytes = 0;
  std::vector<double> kernel_s;  ///< the seconds of each kernel
};

/// Runs the kernels with fast memory as a cache of `capacity` bytes. Each tensor gets the lowest free addresses when it
/// is made, and frees these addresses after its last use. The seconds of a kernel are its seconds with all operands in
/// fast memory plus the seconds of its misses and write-backs. A roofline gives a kernel's time as the maximum of
/// several lines. For such a kernel, the seconds of misses and write-backs are added to the line of its
/// bytes.
///
/// The kernels run `rounds` times, and the result describes the last round. The cache is empty before
/// the first round. At the start of each round, the tensors that no kernel makes have new content.
/// This content is only in slow memory. From the second round on, all rounds are equal: the lines
/// that a round leaves in the cache do not depend on the content of the cache before the round.
CachedRun cached_run(const PlacementQuestion& question, std::int64_t capacity, int rounds = 1);

}  // namespace sluice
