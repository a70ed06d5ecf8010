// Runs kernels with fast memory as a direct-mapped hardware cache of slow memory, like the memory mode of Optane. The
// order of the kernels is known. So hits, misses and write-backs follow from a map of addresses. If a kernel uses a
// cache line that is not in the cache, this line replaces another line. If the replaced line was changed, it is
// written back. Tensors are much larger than lines, so the arithmetic counts bytes instead of lines.
//
// The cost of each kind of access is from Hildebrand et al., A Case Against Hardware Managed DRAM Caches for NVRAM
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

/// Runs the kernels with fast memory as a cache of `capacity` bytes. Each new tensor gets the lowest free addresses.
/// It frees them after its last use. The seconds of a kernel have two parts: the seconds with all operands in fast
/// memory, and the seconds of misses and write-backs. A roofline gives a kernel's time as the maximum of several
/// lines. For such a kernel, the second part is added to the line of its bytes.
///
/// The kernels run `rounds` times, and the result describes the last round. The cache is empty before the first
/// round. At the start of each round, the tensors that no kernel makes have new content. This content is only in slow
/// memory. The cache after a round does not depend on the cache before it. So all rounds from the second on are
/// equal.
CachedRun cached_run(const PlacementQuestion& question, std::int64_t capacity, int rounds = 1);

}  // namespace sluice
