// Two receivers of spans and events (Sink in span.hpp) that write no file. NullSink keeps no data. MemorySink keeps all
// spans and events in memory, for tests and for small runs that need no file.
#pragma once

#include <vector>

#include "trace/span.hpp"

namespace sluice {

class NullSink final : public Sink {
 public:
  void span(const Span&) override {}
  void memory(const MemoryEvent&) override {}
};

class MemorySink final : public Sink {
 public:
  void span(const Span& span) override { spans.push_back(span); }
  void memory(const MemoryEvent& event) override { events.push_back(event); }

  std::vector<Span> spans;
  std::vector<MemoryEvent> events;
};

}  // namespace sluice
