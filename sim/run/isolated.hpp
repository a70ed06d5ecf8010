// Runs each plan in a process of its own, because a process can have only one engine of SimGrid.
#pragma once

#include "execute/simgrid/engine.hpp"
#include "trace/memory_sink.hpp"

namespace sluice {

/// The whole trace of a small plan, in memory.
struct MemoryTrace {
  EngineReport report;
  std::vector<Span> spans;
  std::vector<MemoryEvent> memory;
};
MemoryTrace execute_isolated(const Plan& plan, const EngineOptions& options = {});

}  // namespace sluice
