// Work in a child process: what may crash, or may be done once in a process, leaves its caller
// whole.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

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

/// Runs `work` in a forked child and returns what it returns. An Error that leaves it is thrown
/// here again, with the same message and exit code. Throws ChildDied. The child leaves by _exit: no
/// destructor or atexit handler of the parent runs in it.
std::string run_isolated(const std::function<std::string()>& work, const ChildLimits& limits = {});

}  // namespace sluice
