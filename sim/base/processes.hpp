// Work in child processes: what may crash, or may be done once in a process, leaves its caller
// whole. SimGrid, for one, allows a single engine per process.
//
// A child is forked: it has what its parent had, and leaves by _exit, so that no destructor or
// atexit handler of the parent runs in it. It is killed when the thread that forked it ends, and so
// never outlives its parent. Where other threads may hold locks a fork is not safe: the parent
// should be single-threaded, or wait for nothing that its other threads hold.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace sluice {

/// What a child may take beyond what it inherits. 0: no limit.
struct ChildLimits {
  std::int64_t more_bytes = 0;  ///< of address space
  std::int64_t cpu_s = 0;       ///< of processor time
};

/// A child ended by a signal, or without an answer.
struct ChildDied : InternalError {
  explicit ChildDied(const std::string& message) : InternalError(message) {}
};

/// Forks a child that calls `body` and ends: with exit code 0, or 70 where an exception leaves it.
/// Throws IoError where the system allows no further process. The caller waits for the child.
pid_t fork_child(const std::function<void()>& body);

/// Runs `work` in a child and returns what it returns. An Error that leaves it is thrown here
/// again, with the same message and exit code. Throws ChildDied, and IoError as fork_child does.
std::string run_isolated(const std::function<std::string()>& work, const ChildLimits& limits = {});

struct ProcessAnswer {
  std::string text;   ///< what the work returned
  std::string fault;  ///< what it threw, or how its process died; empty: it answered
};

/// Calls work(i) for each i in 0..count-1, each in a child of its own, at most `jobs` (at least 1)
/// at a time, and returns the answers by i: they depend neither on `jobs` nor on who ends first.
/// `progress` is called with the number of answers. Throws Interrupted on a signal, and IoError as
/// fork_child does; no child is alive afterwards.
std::vector<ProcessAnswer> run_in_processes(std::size_t count, std::size_t jobs,
                                            const std::function<std::string(std::size_t)>& work,
                                            const std::function<void(std::size_t)>& progress = {});

/// How many processes this computer runs at once, at least 1.
std::size_t processors();

}  // namespace sluice
