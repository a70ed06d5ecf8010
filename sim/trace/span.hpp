// The spans and memory events that an execution emits, in the order of time. Any number of sinks may receive them.
// Actions, streams, pools and tensors are numbers of rows in the tables of trace/labels.hpp.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace sluice {

/// Why a span did not start when its stream became free.
enum class WaitReason : std::uint8_t {
  none,    ///< it started at once
  data,    ///< the last thing that it waited for was the arrival of another action (`blocker`)
  memory,  ///< the last thing that it waited for was room in a pool (`blocker`)
};

/// One executed action. Times are in seconds from the start of the run.
struct Span {
  static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t action = nobody;
  std::int64_t iteration = 0;  ///< of the body; 0 in prologue and epilogue
  double start = 0;
  double end = 0;        ///< the stream is free again
  double available = 0;  ///< when actions that wait for it may start: end + latency of the route
  /// Seconds for which its stream was idle before it (since the end of its previous span, or 0).
  double waited = 0;
  WaitReason reason = WaitReason::none;
  std::uint32_t blocker = nobody;
  /// The row of the span that ended the last wait, from 0 in the order of emission. That span ended the wait by its
  /// arrival, or by the release that made the grant possible. The row is -1 if this span started at once.
  std::int64_t cause = -1;
};

/// An instance of a tensor enters (delta > 0) or leaves (delta < 0) a pool.
struct MemoryEvent {
  double time = 0;
  std::uint32_t pool = 0;
  std::uint32_t tensor = 0;
  std::int64_t delta = 0;  ///< bytes
  std::int64_t level = 0;  ///< bytes in the pool afterwards
};

/// The spans and events that were emitted last are repeated `times` times, each time later.
struct Repetition {
  /// If a repetition has more spans than this, one period and the number of repetitions are kept instead.
  static constexpr std::int64_t most_written = 1'000'000;

  std::int64_t times = 0;
  double seconds = 0;              ///< by how much each repetition is later
  std::int64_t iterations = 0;     ///< iterations of the body by which each repetition is later
  const std::vector<Span>& spans;  ///< the latest emitted spans, of one period
  const std::vector<MemoryEvent>& memory;
  const std::vector<std::uint32_t>& streams;  ///< by span

  /// Returns the span as it is in repetition number k, counted from 1. For k = 0 it is the span itself.
  Span span(std::size_t i, std::int64_t k) const;
  MemoryEvent event(std::size_t i, std::int64_t k) const;

  /// Returns whether the repetition has so many spans that they are not written one by one.
  bool is_folded() const {
    return !spans.empty() && times > most_written / static_cast<std::int64_t>(spans.size());
  }
};

/// Keeps shifted times in order. Rounding must not let two spans of a stream overlap. It must also not let a span end
/// before the span that was emitted before it.
class Sequence {
 public:
  /// Begins with one repetition.
  Sequence(const Repetition& repetition, std::int64_t k);
  void fit(Span& span, std::uint32_t stream);
  void fit(MemoryEvent& event);

 private:
  std::vector<double> free_at_;  ///< by stream
  double last_end_ = 0, last_event_ = 0;
};

/// Receives an execution as it happens: spans in the order of their ends, and memory events in the order of time.
/// Events at the same time also have a fixed order (execute/emitter.hpp).
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void span(const Span& span) = 0;
  virtual void memory(const MemoryEvent& event) = 0;
  /// Receives a steady state. By default this emits every span and event of it one by one.
  virtual void repeat(const Repetition& repetition);
};

/// Passes everything on to several sinks.
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
