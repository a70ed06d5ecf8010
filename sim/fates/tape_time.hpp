// Estimates the seconds of a training run in which every micro-batch goes through the same tape. A search ranks its
// candidates by this estimate. It then lists the best candidates as plans and replays them.
//
// Micro-batches go through the tape one after the other. There are three engines: one for computation, one for saves
// and one for loads. Loads are placed where a plan would list them. A load comes as late as possible without making a
// computation wait. If memory has no room, the load comes even later. A computation waits until earlier saves have
// freed enough bytes. Only a few micro-batches are simulated. Each later micro-batch takes as long as the last
// simulated one. It takes at least the time that the busiest engine works for it. Micro-batches that run side by side
// are simulated together, operation by operation.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fates/tape.hpp"

namespace sluice {

struct EstimatedSeconds {
  double seconds = 0;
  std::int64_t next = 0;  ///< the next greater budget, in bytes, that changes the result
};

/// Returns the seconds from the first load to the end of the last computation. `micro_batches` micro-batches are
/// computed within `bytes` bytes. With `one_a_step`, each micro-batch is a step. Parameter `memory` is the result of
/// memory_of() for the tape.
EstimatedSeconds estimated_seconds(const Chain& chain, const Tape& tape, const TapeMemory& memory,
                                   std::int64_t bytes, double micro_batches, bool one_a_step);

/// The seconds for which a micro-batch occupies each engine.
struct EngineSeconds {
  double computed = 0, loaded = 0, saved = 0;
  double busiest() const { return std::max({computed, loaded, saved}); }
};
EngineSeconds engine_seconds(const Chain& chain, const Tape& tape);

}  // namespace sluice
