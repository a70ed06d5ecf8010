#include "trace/span.hpp"

#include <algorithm>

#include "base/interrupt.hpp"

namespace sluice {

Span Repetition::span(std::size_t i, std::int64_t k) const {
  Span span = spans[i];
  const double later = static_cast<double>(k) * seconds;
  span.iteration += k * iterations;
  span.start += later;
  span.end += later;
  span.available += later;
  if (span.cause >= 0) span.cause += k * static_cast<std::int64_t>(spans.size());
  return span;
}

MemoryEvent Repetition::event(std::size_t i, std::int64_t k) const {
  MemoryEvent event = memory[i];
  event.time += static_cast<double>(k) * seconds;
  return event;
}

Sequence::Sequence(const Repetition& r, std::int64_t k) {
  for (std::size_t i = 0; i < r.spans.size(); ++i) {
    Span span = r.span(i, k);
    fit(span, r.streams[i]);
  }
  for (std::size_t i = 0; i < r.memory.size(); ++i) {
    MemoryEvent event = r.event(i, k);
    fit(event);
  }
}

void Sequence::fit(Span& span, std::uint32_t stream) {
  if (stream >= free_at_.size()) free_at_.resize(stream + 1, 0);
  span.start = std::max(span.start, free_at_[stream]);
  span.end = std::max({span.end, span.start, last_end_});
  span.available = std::max(span.available, span.end);
  free_at_[stream] = last_end_ = span.end;
}

void Sequence::fit(MemoryEvent& event) {
  last_event_ = event.time = std::max(event.time, last_event_);
}

void Sink::repeat(const Repetition& r) {
  Sequence sequence(r, 0);
  for (std::int64_t k = 1; k <= r.times; ++k) {
    check_interrupt();
    for (std::size_t i = 0; i < r.spans.size(); ++i) {
      Span one = r.span(i, k);
      sequence.fit(one, r.streams[i]);
      span(one);
    }
    for (std::size_t i = 0; i < r.memory.size(); ++i) {
      MemoryEvent event = r.event(i, k);
      sequence.fit(event);
      memory(event);
    }
  }
}

}  // namespace sluice
