// Reads a trace for `sluice show`, and draws the picture. The spans are read once, and the memory events are read
// once.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trace/hdf5/reader.hpp"

namespace sluice {

/// The busy time of each stream, and the reasons why compute streams were idle.
struct Activity {
  struct Stream {
    double busy_s = 0;
    std::int64_t spans = 0;
  };
  struct WaitTotal {
    std::string what;  ///< what was awaited, such as "load on gpu.host.down"
    double seconds = 0;
    std::int64_t times = 0;
  };
  double end_s = 0;                    ///< seconds until the last end or arrival of a span
  double compute_span_s = 0;           ///< end_s times the number of compute streams with spans
  std::vector<Stream> streams;         ///< the streams, in the order of the trace's labels
  std::vector<WaitTotal> wait_totals;  ///< longest first
};
Activity activity_of(const TraceReader& trace);

/// The highest level of a pool, with its moment and with the bytes of each class of tensors at this moment.
struct HighWater {
  std::int64_t peak = 0;
  double time = 0;  ///< the first moment of the peak
  /// The bytes of each class at the first moment of the peak, with the largest number first.
  std::vector<std::pair<std::string, std::int64_t>> classes;
};
HighWater high_water_of(const TraceReader& trace, std::uint32_t pool);

/// Returns the picture as text that is `width` columns wide. Throws Interrupted on a signal.
std::string picture_of(const TraceReader& trace, std::size_t width);

}  // namespace sluice
