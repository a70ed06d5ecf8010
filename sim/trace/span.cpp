#include "trace/span.hpp"

#include <algorithm>

#include "base/interrupt.hpp"

namespace sluice {

Span Repetition::span(std::size_t i, std::int64_t k) const {
  Span span = spans[i];
  span.iteration += k * iterations;
  span.start = later_by(span.start, k);
  if (follows[i] != Span::nobody)
    span.start = std::max(span.start, later_by(spans[follows[i]].end, k - 1));
  span.end = std::max({later_by(span.end, k), span.start, later_by(ended, k - 1)});
  span.available = std::max(later_by(span.available, k), span.end);
  if (span.cause >= 0) span.cause += k * static_cast<std::int64_t>(spans.size());
  return span;
}

MemoryEvent Repetition::event(std::size_t i, std::int64_t k) const {
  MemoryEvent event = memory[i];
  event.time = std::max(later_by(event.time, k), later_by(ended, k - 1));
  return event;
}

void Sink::repeat(const Repetition& r) {
  for (std::int64_t k = 1; k <= r.times; ++k) {
    check_interrupt();
    for (std::size_t i = 0; i < r.spans.size(); ++i) span(r.span(i, k));
    for (std::size_t i = 0; i < r.memory.size(); ++i) memory(r.event(i, k));
  }
}

}  // namespace sluice
