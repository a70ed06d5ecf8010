// Runs kernels with fast memory as a direct-mapped hardware cache of slow memory, like the memory mode of Optane. The
// order of the kernels is known, and each tensor has known addresses. So hits, misses and write-backs can be computed.
// If a kernel uses a line of slow memory that is not in the cache, this line replaces another line. If the other line
// was changed in the cache, it is written back to slow memory. Tensors are much larger than lines, so the arithmetic
// counts bytes instead of lines.
//
// The cost of each kind of access is from Hildebrand et al., A Case Against Hardware Managed DRAM Caches for NVRAM
// Based Systems (ISPASS 2021).
#pragma once

#include <string>
#include <vector>

#include "placement/problem.hpp"

namespace sluice {

/// The bytes of the hits, misses and write-backs of a cache.
struct CacheBytes {
  double hit_bytes = 0, miss_bytes = 0, written_back_bytes = 0;
};
struct CachedRun : CacheBytes {
  double seconds = 0;
  std::vector<double> kernel_s;  ///< the seconds of each kernel
};

/// Runs the kernels with fast memory as a cache of `capacity` bytes. At its first use, a tensor gets the lowest free
/// addresses of slow memory. After its last use, these addresses are free again. The seconds of a kernel are its
/// seconds with all operands in fast memory, plus the seconds of its misses and write-backs. If a roofline gives the
/// seconds, they are the maximum of several sums (KernelTime::Line): one for the FLOP, and one or more for the bytes.
/// Then the seconds of the misses and write-backs are added only to the sums for the bytes.
///
/// The kernels run `rounds` times, and the result describes the last round. The cache is empty before the first
/// round. At the start of each round, tensors that are given anew (Begins::given), such as inputs, have new content,
/// which is only in slow memory. The content of the cache after a round does not depend on its content before the
/// round. So all rounds from the second round on are equal.
CachedRun cached_run(const PlacementQuestion& question, std::int64_t capacity, int rounds = 1);

/// Throws InputError if slow memory has no rates at which a hardware cache could read and write it.
void require_cache_rates(const PlacementProblem::Rates& rates, const std::string& slow,
                         const std::string& device);

/// Returns the facts that the answer of a run with a hardware cache has.
std::vector<Fact> facts_of_cache(const CacheBytes& round, std::int64_t cache_bytes);

}  // namespace sluice
