// Isolation gives each run its own process, because SimGrid allows one engine per
// process.
#pragma once

#include "execute/simgrid/engine.hpp"
#include "trace/memory_sink.hpp"

namespace sluice {

/// Executes a plan in a child process and keeps the whole trace in memory. It is meant for small plans.
struct MemoryTrace {
  EngineReport report;
  std::vector<Span> spans;
  std::vector<MemoryEvent> memory;
};
MemoryTrace execute_isolated(const Plan& plan, const EngineOptions& options = {});

}  // namespace sluice
