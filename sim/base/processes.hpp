// Runs work in child processes. If code crashes in a child, the parent goes on. Code that can run
// only once per process, such as SimGrid's engine, can run once in each child.
// A child is forked, or is another program. A forked child has a copy of its parent's memory. A fork is not safe if the
// parent has several threads, because other threads may hold locks, which are never released in the child. So work that
// a program with threads may ask for is a ChildWork: if there are threads, another program does it.
// A child ends by _exit: destructors and atexit handlers of the parent do not run in the child. A child is killed when
// the thread that started it ends. So it never outlives its parent.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace sluice {

/// The resources that a child may use, in addition to the resources that it uses at its start. A limit of 0 means no
/// limit.
struct ChildLimits {
  std::int64_t more_bytes = 0;  ///< the bytes of address space
  std::int64_t cpu_s = 0;       ///< the seconds of processor time
  /// The seconds of wall-clock time. Without this limit, a child that waits for something could wait for ever.
  unsigned wall_s = 0;
};

/// Thrown when a signal ended a child, or when a child ended without an answer.
struct ChildDied : InternalError {
  explicit ChildDied(const std::string& message) : InternalError(message) {}
};

/// A kind of work that needs nothing of the memory of its parent, but only the text of a request. All objects of this
/// class are constants outside of functions. So they exist when main() begins.
class ChildWork {
 public:
  ChildWork(std::string name, std::string (*run)(std::string_view request));
  const std::string& name() const { return name_; }
  std::string run(std::string_view request) const { return run_(request); }

 private:
  std::string name_;
  std::string (*run_)(std::string_view);
};

/// Sets the program that does the work of children while this program has several threads. The program must contain the
/// same kinds of work as this program, and its main() must call do_work_of_child(). Must be called before any thread
/// starts.
void set_child_program(std::string path);
/// If this program was started to do the work of a child, does this work and ends the program. Otherwise does nothing.
void do_work_of_child(int count, char** words);

/// Forks a child that calls `body` and then exits. If `body` returns, the exit code of the child is 0. If `body` throws
/// std::bad_alloc, the exit code is ended_without_memory. After any other exception, it is 70. The caller must wait for
/// the child with waitpid. If the system allows no additional process, throws IoError. If it has no memory for the
/// process, throws std::bad_alloc.
pid_t fork_child(const std::function<void()>& body);

/// Runs `work` in a child and returns its result. An Error that `work` throws is thrown again in the parent,
/// with the same message and exit code. An Infeasible keeps its shortage. Throws ChildDied if the child dies, for example because it used up
/// `limits.more_bytes`. Also throws the errors that fork_child throws.
/// This program must have a single thread.
std::string run_isolated(const std::function<std::string()>& work, const ChildLimits& limits = {});
/// Does the same for work that also a program with several threads may ask for.
std::string run_isolated(const ChildWork& work, const std::string& request,
                         const ChildLimits& limits = {});

struct ProcessAnswer {
  std::string text;  ///< the result of the work
  /// The error of the work, or a text that says how its process died. The text is empty if the work succeeded.
  std::string fault;
};

/// Calls work(i) for each i in 0..count-1. Returns the answers in the order of i. Each call runs in a child of its own.
/// At most `jobs` children run at the same time. 0 jobs count as 1. The answers do not depend on `jobs`, or on the
/// order in which children end. `progress` gets the number of answers so far. After a signal, throws Interrupted. Also
/// throws the errors of fork_child. When the function returns or throws, all children have ended.
std::vector<ProcessAnswer> run_in_processes(std::size_t count, std::size_t jobs,
                                            const std::function<std::string(std::size_t)>& work,
                                            const std::function<void(std::size_t)>& progress = {});

/// Returns how many processes this computer can run at once, at least 1.
std::size_t processors();

}  // namespace sluice
