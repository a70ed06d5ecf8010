// Estimates how long a tape takes. A search ranks its candidates by this estimate before it lists
// the best of them as plans and replays them.
//
// Micro-batches go through the tape one after the other. There are three engines: for computation, saves and loads.
// Loads are placed as a plan would list them: as late as possible without making a computation wait, if there is room
// beside what each operation needs. A computation waits until earlier saves have left it enough room. A few
// micro-batches are simulated. Each further micro-batch is assumed to take as long as the last simulated one, and at
// least as long as the busiest engine works for a micro-batch. Micro-batches that run side by side are simulated
// together, one operation of all of them at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fates/tape.hpp"

namespace sluice {

struct EstimatedSeconds {
  double seconds = 0;
  std::int64_t next = 0;  ///< the next greater budget, in bytes, that changes the result
};

/// Returns the seconds from the first load to the end of the last computation, for this number of micro-batches and
/// within this number of bytes. With `one_a_step`, each micro-batch is a step. `memory` is what memory_of() returns for
/// the tape.
EstimatedSeconds estimated_seconds(const Chain& chain, const Tape& tape, const TapeMemory& memory,
                                   std::int64_t bytes, double micro_batches, bool one_a_step);

/// Seconds of a micro-batch on each engine.
struct EngineSeconds {
  double computed = 0, loaded = 0, saved = 0;
  double busiest() const { return std::max({computed, loaded, saved}); }
};
EngineSeconds engine_seconds(const Chain& chain, const Tape& tape);

}  // namespace sluice
