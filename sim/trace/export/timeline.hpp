// A trace as timelines: the tracks, and their slices with the flows between them. Internal to
// sim/trace/export.
//
// Timestamps are whole nanoseconds, each time rounded to the nearest, halves up. Rounding keeps the
// order of times, so the slices of one track do not overlap and none ends before it begins; what is
// shorter than a nanosecond may have no length. Throws InputError when the trace contradicts
// itself: a time that is not finite, negative or beyond 292 years, a span that ends before it
// starts, spans of one stream that overlap.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trace/hdf5/reader.hpp"

namespace sluice {

/// Streams and pools are grouped under their device. A pool belongs to a device by its name; all
/// other pools are in one group of their own, "memories".
struct TrackGroups {
  std::vector<std::string> names;
  std::vector<std::size_t> of_stream, of_pool;  ///< by number: a group

  explicit TrackGroups(const Labels& labels);
};

/// A span on its track. A flow leads from a span to one that waited for it; its number is unique in
/// the trace and never 0.
struct Slice {
  const Span& span;
  std::uint32_t stream;
  std::uint64_t begin, end;                   ///< ns
  std::uint64_t arriving;                     ///< the flow that ends here, or 0
  const std::vector<std::uint64_t>& leaving;  ///< flows that begin here
};

/// Flows lead from the span that ended a span's last wait (`cause`): that by whose arrival its data
/// was there, or by whose end its bytes were free. A trace of version 1.0 names no causes: there
/// the flow comes from the execution of the blocker that became available at the moment when the
/// span started, and waits for memory have none. Slices come in the order of the ends; a flow
/// begins in one before that where it ends. To know what waits for a span, a window of spans is
/// kept: where more than `window` spans end between the two, the flow is left out.
void for_each_slice(const TraceReader& trace, const std::function<void(const Slice&)>& take,
                    std::size_t window = 1 << 17);

/// The levels of a pool; times never decrease.
void for_each_level(const TraceReader& trace, std::uint32_t pool,
                    const std::function<void(std::uint64_t time, std::int64_t level)>& take);

/// What the span waited for last: the action's name, "memory of POOL", or empty.
std::string blocker_of(const Labels& labels, const Span& span);

/// The name of the stage, its number where it has none, or empty for an action without a stage.
std::string stage_of(const Labels& labels, const Labels::Action& action);

}  // namespace sluice
