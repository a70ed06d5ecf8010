#include "base/freed_memory.hpp"

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace sluice {

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int most_kept = 256 << 20;
  // Larger blocks come directly from the system and go back to it. The C library itself raises this limit up to the same
  // number when large blocks are freed, but not after the other limit was set.
  constexpr int largest_kept = 32 << 20;
  mallopt(M_TRIM_THRESHOLD, most_kept);
  mallopt(M_MMAP_THRESHOLD, largest_kept);
#endif
}

}  // namespace sluice
