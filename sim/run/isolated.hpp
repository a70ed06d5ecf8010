// Isolation: SimGrid allows one engine in a process, so whoever runs several forks for each.
#pragma once

#include "execute/simgrid/engine.hpp"
#include "trace/memory_sink.hpp"

namespace sluice {

/// Executes a plan in a child of its own and keeps the whole trace in memory: for small plans.
struct MemoryTrace {
  EngineReport report;
  std::vector<Span> spans;
  std::vector<MemoryEvent> memory;
};
MemoryTrace execute_isolated(const Plan& plan, const EngineOptions& options = {});

}  // namespace sluice
