#include "trace/export/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.hpp"
#include "base/interrupt.hpp"
#include "base/quantity.hpp"

namespace sluice {
namespace {

[[noreturn]] void refuse(const TraceReader& trace, const std::string& reason) {
  throw InputError(trace.path() + ": error: the trace contradicts itself: " + reason);
}

std::uint64_t nanoseconds(const TraceReader& trace, double seconds) {
  constexpr double most = 9.2e9;  // In nanoseconds, this is a little below 2^63.
  if (!(seconds >= 0 && seconds <= most))
    refuse(trace, "the time " + exact(seconds) + " s is not in 0.." + exact(most));
  return static_cast<std::uint64_t>(std::llround(seconds * 1e9));
}

/// Remembers the last `size` spans, and passes each span to `take` when `size` later spans have been added. By then all
/// flows from the span to these later spans are known (timeline.hpp says what a flow is). Spans are added in the order
/// in which they ended.
class Window {
 public:
  Window(const TraceReader& trace, const std::function<void(const Slice&)>& take, std::size_t size)
      : trace_(trace),
        take_(take),
        items_(std::min<std::uint64_t>(size, trace.span_count() + 1)),
        latest_(trace.labels().actions.size(), 0),
        free_at_(trace.labels().streams.size(), 0) {}

  void add(const Span& given) {
    const Span span = in_order(given);
    if (added_ - taken_ == items_.size()) take_oldest();
    Item& item = at(++added_);
    item = {};
    item.span = span;
    item.previous = std::exchange(latest_[span.action], added_);
    if (const std::uint64_t source = source_of(span)) connect(at(source), item);
  }

  void finish() {
    while (taken_ < added_) take_oldest();
  }

 private:
  /// A span of the window. Spans are numbered from 1 in the order in which they ended. 0 stands for no span. At most
  /// one flow ends at a span. So the flow has the number of the span at which it ends.
  struct Item {
    Span span;
    std::uint64_t previous = 0;  ///< the previous execution of this action
    bool waited = false;         ///< whether a flow ends at this span
    std::uint64_t first_leaving = 0, last_leaving = 0;
    /// The flows that begin at one span form a list. If a flow of the list ends at this span, then `next_leaving` is
    /// the next flow of the list, or 0 at the end of the list.
    std::uint64_t next_leaving = 0;
  };

  Item& at(std::uint64_t number) { return items_[number % items_.size()]; }

  /// In repetitions of a period, rounding may make a span start before the previous span on its stream ends. This
  /// function moves such a start to the end of the previous span.
  Span in_order(Span span) {
    const std::uint32_t stream = trace_.labels().actions[span.action].stream;
    const std::string& name = trace_.labels().streams[stream].name;
    if (span.end < span.start)
      refuse(trace_, "a span on '" + name + "' starts at " + exact(span.start) + " s and ends at " +
                         exact(span.end) + " s");
    constexpr double rounding = 1e-12;
    if (span.start < free_at_[stream] * (1 - rounding))
      refuse(trace_, "spans overlap on '" + name + "': one starts at " + exact(span.start) +
                         " s, before the end of the previous span at " + exact(free_at_[stream]) +
                         " s");
    span.start = std::max(span.start, free_at_[stream]);
    span.end = std::max(span.start, span.end);
    free_at_[stream] = span.end;
    return span;
  }

  /// Returns the number of the span that `span` waited for: its `cause`. If that other span is not in the window, or if
  /// `span` did not wait, the result is 0. A trace of version 1.0 has no causes, and names only the action that was
  /// waited for (`blocker`). For such a trace, if `span` waited for data, the result is an execution of this action:
  /// the one whose data became available when `span` started. If `span` waited for memory, the result is 0.
  std::uint64_t source_of(const Span& span) {
    if (span.cause >= 0) {
      const auto number = static_cast<std::uint64_t>(span.cause) + 1;
      return number > taken_ && number < added_ ? number : 0;
    }
    if (span.reason != WaitReason::data || span.blocker >= latest_.size()) return 0;
    std::uint64_t number = latest_[span.blocker];
    // The latest execution of the blocker may be `span` itself. Then the search begins one execution earlier.
    if (number == added_) number = at(number).previous;
    while (number > taken_ && at(number).span.available > span.start) number = at(number).previous;
    return number > taken_ && at(number).span.available == span.start ? number : 0;
  }

  void connect(Item& source, Item& target) {
    target.waited = true;
    if (source.last_leaving == 0)
      source.first_leaving = added_;
    else
      at(source.last_leaving).next_leaving = added_;
    source.last_leaving = added_;
  }

  void take_oldest() {
    Item& item = at(++taken_);
    leaving_.clear();
    for (std::uint64_t flow = item.first_leaving; flow != 0; flow = at(flow).next_leaving)
      leaving_.push_back(flow);
    take_({item.span, trace_.labels().actions[item.span.action].stream,
           nanoseconds(trace_, item.span.start), nanoseconds(trace_, item.span.end),
           item.waited ? taken_ : 0, leaving_});
  }

  const TraceReader& trace_;
  const std::function<void(const Slice&)>& take_;
  std::vector<Item> items_;  ///< a ring buffer
  std::uint64_t added_ = 0, taken_ = 0;
  std::vector<std::uint64_t> latest_;  ///< the latest execution of each action
  std::vector<double> free_at_;        ///< one per stream
  std::vector<std::uint64_t> leaving_;
};

}  // namespace

TrackGroups::TrackGroups(const Labels& labels) {
  std::map<std::string, std::size_t> numbers;
  for (const Labels::Stream& stream : labels.streams) {
    const auto [found, is_new] = numbers.emplace(stream.device, names.size());
    if (is_new) names.push_back(stream.device);
    of_stream.push_back(found->second);
  }
  const std::size_t others = names.size();
  for (const Labels::Pool& pool : labels.pools) {
    const auto found = numbers.find(pool.name);
    if (found == numbers.end() && names.size() == others) names.emplace_back("memories");
    of_pool.push_back(found == numbers.end() ? others : found->second);
  }
}

void for_each_slice(const TraceReader& trace, const std::function<void(const Slice&)>& take,
                    std::size_t window) {
  Window spans(trace, take, window);
  trace.spans([&](const std::vector<Span>& block) {
    check_interrupt();
    for (const Span& span : block) spans.add(span);
  });
  spans.finish();
}

void for_each_level(const TraceReader& trace, std::uint32_t pool,
                    const std::function<void(std::uint64_t time, std::int64_t level)>& take) {
  double last = 0;
  trace.memory(pool, [&](const std::vector<MemoryEvent>& block) {
    check_interrupt();
    for (const MemoryEvent& event : block) {
      // The times of two events at the same moment may differ, because the simulator's clock is rounded.
      if (last - event.time > 1e-9 * std::max(1.0, last))
        refuse(trace, "the events of the pool '" + trace.labels().pools[pool].name +
                          "' are not in the order of time: the event at " + exact(event.time) +
                          " s follows a later event");
      // A time that is NaN becomes `last`, and nanoseconds() refuses it.
      if (!(event.time <= last)) last = event.time;
      take(nanoseconds(trace, last), event.level);
    }
  });
}

std::string blocker_of(const Labels& labels, const Span& span) {
  if (span.reason == WaitReason::data && span.blocker < labels.actions.size())
    return labels.actions[span.blocker].name;
  if (span.reason == WaitReason::memory && span.blocker < labels.pools.size())
    return "memory of " + labels.pools[span.blocker].name;
  return {};
}

std::string stage_of(const Labels& labels, const Labels::Action& action) {
  if (action.stage < 0) return {};
  const auto stage = static_cast<std::size_t>(action.stage);
  return stage < labels.stages.size() ? labels.stages[stage] : std::to_string(stage);
}

}  // namespace sluice
