#include "trace/span.hpp"

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

void Sink::repeat(const Repetition& r) {
  for (std::int64_t k = 1; k <= r.times; ++k) {
    check_interrupt();
    for (std::size_t i = 0; i < r.spans.size(); ++i) span(r.span(i, k));
    for (std::size_t i = 0; i < r.memory.size(); ++i) memory(r.event(i, k));
  }
}

}  // namespace sluice
