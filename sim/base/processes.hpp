// Runs work in child processes. If code crashes in a child, the parent goes on. Code that can run
// only once per process, such as SimGrid's engine, can run once in each child.
//
// A child is forked, so it has a copy of its parent's memory. The child ends by _exit, so that no destructor or atexit
// handler of the parent runs in the child. A child is killed when the thread that forked it ends, so it never outlives
// its parent. A fork is not safe while other threads hold locks. So either the parent has only one thread, or the child
// must not need a lock that another thread may hold.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace sluice {

/// The resources that a child may use in addition to the resources that it uses when it starts. A limit of 0 means no
/// limit.
struct ChildLimits {
  std::int64_t more_bytes = 0;  ///< the bytes of address space
  std::int64_t cpu_s = 0;       ///< the seconds of processor time
  /// The seconds of wall-clock time; this limit is needed because a child may wait for a lock that is never released.
  unsigned wall_s = 0;
};

/// Thrown when a signal ended a child, or when a child ended without an answer.
struct ChildDied : InternalError {
  explicit ChildDied(const std::string& message) : InternalError(message) {}
};

/// Forks a child that calls `body` and then exits. The exit code of the child is 0, or ended_without_memory if `body`
/// throws std::bad_alloc, or 70 if `body` throws another exception. Throws IoError if the system allows no additional
/// process, and std::bad_alloc if the system has no memory for an additional process. The caller must wait for the
/// child with waitpid.
pid_t fork_child(const std::function<void()>& body);

/// Runs `work` in a child and returns its result. An Error that `work` throws is thrown again in the parent,
/// with the same message and exit code. Throws ChildDied if the child dies, for example because it used up
/// `limits.more_bytes`. Also throws the errors that fork_child throws.
std::string run_isolated(const std::function<std::string()>& work, const ChildLimits& limits = {});

struct ProcessAnswer {
  std::string text;  ///< the result of the work
  /// The error of the work, or a text that says how its process died. The text is empty if the work succeeded.
  std::string fault;
};

/// Calls work(i) for each i in 0..count-1 and returns the answers in the order of i. Each call runs in a child of its
/// own. At most `jobs` children run at the same time (one if `jobs` is 0). The answers depend neither on `jobs` nor on
/// which child ends first. `progress` is called with the number of answers that have arrived so far. Throws Interrupted
/// if a signal has been received, and the errors that fork_child throws. When the function returns or throws, no child
/// is left.
std::vector<ProcessAnswer> run_in_processes(std::size_t count, std::size_t jobs,
                                            const std::function<std::string(std::size_t)>& work,
                                            const std::function<void(std::size_t)>& progress = {});

/// Returns how many processes this computer can run at once, at least 1.
std::size_t processors();

}  // namespace sluice
