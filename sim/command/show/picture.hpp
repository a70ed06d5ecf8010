// Collects what `sluice show` draws from a trace. It reads the spans once and the memory events
// once.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trace/hdf5/reader.hpp"

namespace sluice {

/// The busy time of each stream, and why compute streams were idle.
struct Activity {
  struct Stream {
    double busy_s = 0;
    std::int64_t spans = 0;
  };
  struct WaitTotal {
    std::string what;  ///< "load on gpu.host.down", "room in gpu, or its turn to get it"
    double seconds = 0;
    std::int64_t times = 0;
  };
  double end_s = 0;                    ///< when the last span ended and arrived
  double compute_span_s = 0;           ///< end_s x number of compute streams that did anything
  std::vector<Stream> streams;         ///< in the order of the trace's labels
  std::vector<WaitTotal> wait_totals;  ///< longest first
};
Activity activity_of(const TraceReader& trace);

/// The highest level of a pool, and the bytes of each class of tensors at that moment.
struct HighWater {
  std::int64_t peak = 0;
  double time = 0;                                            ///< the first moment of the peak
  std::vector<std::pair<std::string, std::int64_t>> classes;  ///< at that moment, largest first
};
HighWater high_water_of(const TraceReader& trace, std::uint32_t pool);

/// Draws the picture as text, `width` columns wide. Throws Interrupted on a signal.
std::string picture_of(const TraceReader& trace, std::size_t width);

}  // namespace sluice
