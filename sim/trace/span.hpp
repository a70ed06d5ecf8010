// The spans and memory events of an execution, in the order of time. Any number of sinks may receive these spans and
// events. Actions, streams, pools and tensors are row numbers of the tables of trace/labels.hpp.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace sluice {

/// The reason why a span did not start when its stream became free.
enum class WaitReason : std::uint8_t {
  none,    ///< the span waited for no action and for no pool
  data,    ///< the span waited last for the data of another action (`blocker`)
  memory,  ///< the span waited last for room in a pool (`blocker`)
};

/// One executed action. Times are in seconds from the start of the run.
struct Span {
  static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t action = nobody;
  std::int64_t iteration = 0;  ///< iteration of the body; 0 in prologue and epilogue
  double start = 0;
  double end = 0;  ///< from this time on, the stream is free again
  /// The end plus the latency of the route. From this time on, actions that wait for this span may start.
  double available = 0;
  /// The seconds for which the stream was idle before this span. The idle time begins at the end of the stream's
  /// previous span. For the first span of the stream, it begins at the start of the run.
  double waited = 0;
  WaitReason reason = WaitReason::none;
  std::uint32_t blocker = nobody;
  /// The number of the cause: the span that ended the last wait of this span. The wait ended when the data of the cause
  /// arrived, or when the end of the cause freed bytes. Spans are numbered from 0 in the order in which sinks receive
  /// them. If this span did not wait, -1.
  std::int64_t cause = -1;
};

/// An instance of a tensor enters (delta > 0) or leaves (delta < 0) a pool.
struct MemoryEvent {
  double time = 0;
  std::uint32_t pool = 0;
  std::uint32_t tensor = 0;
  std::int64_t delta = 0;  ///< bytes
  std::int64_t level = 0;  ///< bytes in the pool after the event
};

/// Says that the latest spans and events are repeated `times` times. Each repetition follows the previous one.
struct Repetition {
  /// If all repetitions together have more spans than this number, the spans are not written one by one. Instead, the
  /// trace has one period and the number of its repetitions.
  static constexpr std::int64_t most_written = 1'000'000;

  std::int64_t times = 0;
  /// The seconds from the start of one repetition to the start of the next repetition.
  double seconds = 0;
  /// The number of iterations of the body in one repetition.
  std::int64_t iterations = 0;
  const std::vector<Span>& spans;  ///< the spans of one period, which are the latest spans
  const std::vector<MemoryEvent>& memory;
  const std::vector<std::uint32_t>& streams;  ///< the stream of each span

  /// Returns the span that repeats spans[i] in repetition k. Repetitions are numbered from 1. If k is 0, returns
  /// spans[i] unchanged.
  Span span(std::size_t i, std::int64_t k) const;
  MemoryEvent event(std::size_t i, std::int64_t k) const;

  /// Returns whether the trace stores the number of the repetitions instead of their spans. See `most_written`.
  bool is_folded() const {
    return !spans.empty() && times > most_written / static_cast<std::int64_t>(spans.size());
  }
};

/// The times of repetitions are rounded, so they may be out of order. If a span starts before the end of the previous
/// span on its stream, fit() moves the start to this end. If an end is earlier than the previous end, or an event is
/// earlier than the previous event, fit() moves it to the time of the previous one.
class Sequence {
 public:
  /// Begins with all spans and events of repetition `k`: they count as the previous ones at the first call of fit().
  Sequence(const Repetition& repetition, std::int64_t k);
  void fit(Span& span, std::uint32_t stream);
  void fit(MemoryEvent& event);

 private:
  std::vector<double> free_at_;  ///< by stream
  double last_end_ = 0, last_event_ = 0;
};

/// Receives an execution while it happens: spans in the order of their ends, and memory events in the order of time.
/// execute/emitter.hpp says in which order events of the same time come.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void span(const Span& span) = 0;
  virtual void memory(const MemoryEvent& event) = 0;
  /// Receives a steady state. By default, this function passes the spans and events of all repetitions to span() and
  /// memory(), one by one.
  virtual void repeat(const Repetition& repetition);
};

/// Passes all spans, events and repetitions on to several sinks.
class FanOut final : public Sink {
 public:
  explicit FanOut(std::vector<Sink*> sinks) : sinks_(std::move(sinks)) {}
  void span(const Span& s) override {
    for (Sink* sink : sinks_) sink->span(s);
  }
  void memory(const MemoryEvent& e) override {
    for (Sink* sink : sinks_) sink->memory(e);
  }
  void repeat(const Repetition& r) override {
    for (Sink* sink : sinks_) sink->repeat(r);
  }

 private:
  std::vector<Sink*> sinks_;
};

}  // namespace sluice
