// Reads a trace as timelines. A timeline has tracks. A track has slices, and flows lead from slice to slice. Only
// sim/trace/export uses this code.
//
// Timestamps are whole nanoseconds. Each time is rounded to the nearest nanosecond, and halves are rounded up. Slices
// of one track do not overlap, because rounding keeps the order of times. If a slice is shorter than a nanosecond, its
// length may be rounded to 0. The functions throw InputError if a time of the trace is not finite, is negative or is
// beyond 292 years. The functions also throw InputError if a span ends before it starts, or if spans of one stream
// overlap.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trace/hdf5/reader.hpp"

namespace sluice {

/// Assigns streams and pools to groups. Each device has a group with its streams and with the pool that has the name of
/// the device. All other pools are in the group "memories".
struct TrackGroups {
  std::vector<std::string> names;
  std::vector<std::size_t> of_stream, of_pool;  ///< the index of the group for each stream and pool

  explicit TrackGroups(const Labels& labels);
};

/// A span on its track. If a later span waited for this span, a flow leads from this span to the later span. A flow has
/// a number that is unique in the trace and never 0.
struct Slice {
  const Span& span;
  std::uint32_t stream;
  std::uint64_t begin, end;  ///< ns
  /// The number of the flow that ends at this slice, or 0.
  std::uint64_t arriving;
  const std::vector<std::uint64_t>& leaving;  ///< the numbers of the flows that begin at this slice
};

/// Calls `take` for each slice, in the order in which the slices end. If a span waited for another span (its `cause`),
/// a flow leads from the cause to the span. The wait ended when the data of the cause arrived, or when the end of the
/// cause freed the needed bytes. The function remembers the last `window` spans. A flow is left out if more than
/// `window` spans end between its two slices.
///
/// A trace of version 1.0 has no causes. In such a trace, a wait for memory has no flow. A wait for data has a flow
/// from an execution of the blocker, whose data became available when the span started.
void for_each_slice(const TraceReader& trace, const std::function<void(const Slice&)>& take,
                    std::size_t window = 1 << 17);

/// Calls `take` for each level of a pool. Times never decrease.
void for_each_level(const TraceReader& trace, std::uint32_t pool,
                    const std::function<void(std::uint64_t time, std::int64_t level)>& take);

/// Returns what the span waited for last: the name of an action, or "memory of POOL". If the span did not wait, returns
/// "".
std::string blocker_of(const Labels& labels, const Span& span);

/// Returns the name of the action's stage. If the stage has no name, returns its number. If the action has no stage,
/// returns "".
std::string stage_of(const Labels& labels, const Labels::Action& action);

}  // namespace sluice
