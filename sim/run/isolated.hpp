// Isolation: SimGrid allows one engine in a process, so whoever runs several forks for each.
#pragma once

#include <functional>
#include <string>

#include "engine/engine.hpp"
#include "trace/memory_sink.hpp"

namespace sluice {

/// Runs `work` in a forked child and returns what it returns. An Error that leaves it is thrown
/// here again, with the same message and exit code; a child that dies by a signal is an
/// InternalError. The child leaves by _exit: no destructor or atexit handler of the parent runs in
/// it.
std::string run_isolated(const std::function<std::string()>& work);

/// Executes a plan in a child of its own and keeps the whole trace in memory: for small plans.
struct MemoryTrace {
  EngineReport report;
  std::vector<Span> spans;
  std::vector<MemoryEvent> memory;
};
MemoryTrace execute_isolated(const Plan& plan, const EngineOptions& options = {});

}  // namespace sluice
