// Reads a trace as timelines. A timeline has tracks, and a track has slices with flows between them. Only
// sim/trace/export uses this.
//
// Timestamps are whole nanoseconds: each time is rounded to the nearest one, and halves are rounded up. Rounding keeps
// the order of times, so slices of one track do not overlap, and none ends before it begins. A slice shorter than a
// nanosecond may have no length. The functions throw InputError if the trace contradicts itself. This is so for a time
// that is not finite, is negative or is beyond 292 years, for a span that ends before it starts, and for spans of one
// stream that overlap.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trace/hdf5/reader.hpp"

namespace sluice {

/// Assigns streams and pools to groups. Each device has a group. A pool belongs to the group of the device that has the
/// same name. All other pools are in a group of their own, "memories".
struct TrackGroups {
  std::vector<std::string> names;
  std::vector<std::size_t> of_stream, of_pool;  ///< the index of the group

  explicit TrackGroups(const Labels& labels);
};

/// A span on its track. A flow leads from a span to a span that waited for it. The number of a flow is unique in the
/// trace and never 0.
struct Slice {
  const Span& span;
  std::uint32_t stream;
  std::uint64_t begin, end;                   ///< ns
  std::uint64_t arriving;                     ///< the flow that ends here, or 0
  const std::vector<std::uint64_t>& leaving;  ///< flows that begin here
};

/// Calls `take` for each slice, in the order of the ends. A flow leads to a span from its `cause`: the span
/// whose arrival brought its data, or whose end freed the bytes that it waited for. A trace of version 1.0 has
/// no causes. There the flow comes from the execution of the blocker that became available when the span
/// started, and waits for memory have no flow. A flow begins in an earlier slice than the one in which it ends,
/// so some spans must be remembered. If more than `window` spans end between the two slices, the flow is left
/// out.
void for_each_slice(const TraceReader& trace, const std::function<void(const Slice&)>& take,
                    std::size_t window = 1 << 17);

/// Calls `take` for each level of a pool. Times never decrease.
void for_each_level(const TraceReader& trace, std::uint32_t pool,
                    const std::function<void(std::uint64_t time, std::int64_t level)>& take);

/// Returns what the span waited for last: the action's name, "memory of POOL", or "".
std::string blocker_of(const Labels& labels, const Span& span);

/// Returns the name of the stage, its number if it has no name, or "" for an action without a stage.
std::string stage_of(const Labels& labels, const Labels::Action& action);

}  // namespace sluice
