// Estimates the seconds of a training run in which every micro-batch goes through the same tape. A search ranks its
// candidates by this estimate. Then it makes plans of the best candidates and replays these plans.
//
// Micro-batches go through the tape one after the other. There are three engines: one for computation, one for saves
// and one for loads. A load has the place at which a plan would list it: as late as possible, but so early that no
// computation waits for it. If memory has no room for the load there, the place is later. A computation waits until
// earlier saves have freed enough bytes. Only a few micro-batches are simulated. Each later micro-batch is assumed to
// take as long as the last simulated micro-batch, but at least as long as the busiest engine works for it.
// Micro-batches that run side by side are simulated together, operation by operation.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fates/tape.hpp"

namespace sluice {

struct EstimatedSeconds {
  double seconds = 0;
  std::int64_t next = 0;  ///< the next greater budget, in bytes, that changes the result
};

/// Returns the seconds from the first load to the end of the last computation, if `micro_batches` micro-batches are
/// computed within `bytes` bytes. `one_a_step` says whether each micro-batch is a step. `memory` is the result of
/// memory_of() for the tape.
EstimatedSeconds estimated_seconds(const Chain& chain, const Tape& tape, const TapeMemory& memory,
                                   std::int64_t bytes, double micro_batches, bool one_a_step);

/// For each engine, the seconds for which one micro-batch occupies it.
struct EngineSeconds {
  double computed = 0, loaded = 0, saved = 0;
  double busiest() const { return std::max({computed, loaded, saved}); }
};
EngineSeconds engine_seconds(const Chain& chain, const Tape& tape);

}  // namespace sluice
