// An estimate of how long a tape takes, by which a search ranks its candidates before the best of
// them are listed as plans and replayed.
//
// One micro-batch after the other goes through the tape, with one engine each for computation,
// saves and loads. Loads are placed as a plan would list them: as late as possible without making a
// computation wait, as far as there is room beside what each operation needs. A computation waits
// until the saves before it have left it room. A few micro-batches are walked through; each further
// one takes as long as the last of these, and at least as long as the busiest engine needs.
// Micro-batches that go side by side are walked through together, one operation of all of them at a
// time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fates/tape.hpp"

namespace sluice {

struct AboutSeconds {
  double seconds = 0;
  std::int64_t next = 0;  ///< bytes: with fewer, the tape takes as long as it does now
};

/// The time from the first load to the end of the last computation of so many micro-batches, within
/// so many bytes; each micro-batch is a step, or some of them are one. `memory` is memory_of the
/// tape.
AboutSeconds about_seconds(const Chain& chain, const Tape& tape, const TapeMemory& memory,
                           std::int64_t bytes, double micro_batches, bool one_a_step);

/// Seconds of a micro-batch on each engine.
struct EngineSeconds {
  double computed = 0, loaded = 0, saved = 0;
  double busiest() const { return std::max({computed, loaded, saved}); }
};
EngineSeconds engine_seconds(const Chain& chain, const Tape& tape);

}  // namespace sluice
