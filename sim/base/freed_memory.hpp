// What becomes of the memory that the program has freed.
#pragma once

namespace sluice {

/// Makes the C library keep freed memory for the next allocations of this process, up to a limit. A search makes and frees
/// many plans one after the other. Without this call, the C library gives the memory of each of them back to the system,
/// which takes about as long to provide it again as the program takes to fill it.
void keep_freed_memory();

}  // namespace sluice
