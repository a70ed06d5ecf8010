#include "base/processes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <thread>
#include <utility>

#include "base/child.hpp"
#include "base/interrupt.hpp"
#include "base/packed_shortage.hpp"
#include "base/packed_strings.hpp"

namespace sluice {

namespace {

using Work = std::function<std::string()>;

/// How a child process ended.
struct ChildEnd {
  std::size_t number;
  std::string death;       ///< how the child died; empty if it answered, or if memory was used up
  int exit_code;           ///< 0 if the child's work succeeded
  std::string text;        ///< the result of the work, or the message of the error
  Shortage shortage = {};  ///< the numbers of an Infeasible
};

[[noreturn]] void rethrow(const ChildEnd& end) {
  const std::string& message = end.text;
  switch (end.exit_code) {
    case 2:
      throw UsageError(message);
    case 3:
      throw InputError(message);
    case code_of_infeasible:
      throw Infeasible(message, end.shortage);
    case 5:
      throw IoError(message);
    case 130:
      throw Interrupted(2);
    case 143:
      throw Interrupted(15);
    default:
      throw InternalError(message);
  }
}

/// The children that are alive. The destructor kills them. Killing is safe: children only compute, and write no files.
class Children {
 public:
  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children() {
    for (const Child& child : alive_) ::kill(child.pid, SIGKILL);
    for (const Child& child : alive_) wait_for(child);
  }

  std::size_t size() const { return alive_.size(); }

  /// Starts a child that is a copy of this process.
  void start(std::size_t number, const Work& work, const ChildLimits& limits = {}) {
    add(number, limits, [&](const int* ends) {
      return fork_child([&] {
        for (const Child& other : alive_) ::close(other.descriptor);
        ::close(ends[0]);
        answer(work, limits, ends[1]);
      });
    });
  }

  /// Starts the program of set_child_program() as the only child.
  void start(const ChildWork& work, std::string_view request, const ChildLimits& limits) {
    add(0, limits, [&](const int* ends) { return spawn_child(work, request, limits, ends[1]); });
  }

  /// Waits at most `moment_ms` for output of the children, and reads this output. Removes the children that have ended
  /// from `alive_`, and returns how they ended.
  std::vector<ChildEnd> collect() {
    std::vector<pollfd> waiting;
    for (const Child& child : alive_) waiting.push_back({child.descriptor, POLLIN, 0});
    std::vector<ChildEnd> ended;
    constexpr int moment_ms = 100;
    if (::poll(waiting.data(), waiting.size(), moment_ms) <= 0) return ended;
    for (std::size_t c = waiting.size(); c-- > 0;) {
      if (waiting[c].revents == 0 || read_some(alive_[c])) continue;
      Child child = std::move(alive_[c]);
      alive_.erase(alive_.begin() + static_cast<std::ptrdiff_t>(c));
      ended.push_back(how_it_ended(child, wait_for(child)));
    }
    return ended;
  }

 private:
  struct Child {
    std::size_t number;
    pid_t pid;
    int descriptor;
    std::string answer;
    /// True if `limits.more_bytes` limits the memory of this child.
    bool has_own_limit;
  };

  /// `launch` starts a child that writes its answer to the second end of the pipe, and returns the id of its process.
  template <class Launch>
  void add(std::size_t number, const ChildLimits& limits, const Launch& launch) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      throw IoError(std::string("cannot make a pipe: ") + std::strerror(errno));
    pid_t pid = 0;
    try {
      pid = launch(ends);
    } catch (...) {
      ::close(ends[0]);
      ::close(ends[1]);
      throw;
    }
    ::close(ends[1]);
    alive_.push_back({number, pid, ends[0], {}, limits.more_bytes > 0});
  }

  /// Reads what the child has written so far. Returns false when the child's output has ended.
  static bool read_some(Child& child) {
    std::array<char, 65536> buffer;
    const ssize_t count = ::read(child.descriptor, buffer.data(), buffer.size());
    if (count < 0) return errno == EINTR;
    child.answer.append(buffer.data(), static_cast<std::size_t>(count));
    return count > 0;
  }

  static int wait_for(const Child& child) {
    ::close(child.descriptor);
    int status = 0;
    while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
  }

  static ChildEnd how_it_ended(const Child& child, int status) {
    // Some libraries crash, or end the process, if they get no memory.
    const bool crashed =
        WIFSIGNALED(status) && (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGABRT);
    const bool ended = WIFEXITED(status) && (child.answer.empty() || WEXITSTATUS(status) != 0);
    if ((crashed || ended) && memory_is_low()) return {child.number, {}, 70, out_of_memory};
    if (WIFSIGNALED(status))
      return {
          child.number, "its process died: " + std::string(strsignal(WTERMSIG(status))), 70, {}};
    if (WEXITSTATUS(status) == ended_without_memory) {
      if (!child.has_own_limit) return {child.number, {}, 70, out_of_memory};
      return {child.number, "its process ran out of memory", 70, {}};
    }
    if (ended) return {child.number, "its process ended without an answer", 70, {}};
    const int exit_code = static_cast<unsigned char>(child.answer.front());
    const std::string_view rest = std::string_view(child.answer).substr(1);
    if (exit_code != code_of_infeasible) return {child.number, {}, exit_code, std::string(rest)};
    const std::vector<std::string_view> parts = unpack(rest);
    return {child.number, {}, exit_code, std::string(parts.at(0)), shortage_from(parts.at(1))};
  }

  InOrder in_order_;  // A signal takes effect only when all children have ended.
  std::vector<Child> alive_;
};

/// Returns whether this process has several threads, or may have them.
bool has_threads() {
  std::error_code error;
  std::ptrdiff_t threads = 0;
  for (std::filesystem::directory_iterator task("/proc/self/task", error), end;
       task != end && !error; task.increment(error))
    ++threads;
  return error || threads != 1;
}

/// Waits for the answer of the only child.
std::string answer_of(Children& child) {
  std::vector<ChildEnd> ended;
  while (ended.empty()) {
    check_interrupt();
    ended = child.collect();
  }
  ChildEnd& answer = ended.front();
  if (!answer.death.empty()) throw ChildDied(answer.death);
  if (answer.exit_code != 0) rethrow(answer);
  return std::move(answer.text);
}

}  // namespace

pid_t fork_child(const std::function<void()>& body) {
  // This call empties the output buffers. Without it, both processes would print the text in the buffers.
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0 && errno == ENOMEM) throw std::bad_alloc();
  if (pid < 0) throw IoError(std::string("cannot start a process: ") + std::strerror(errno));
  if (pid > 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  set_flag_when_interrupted();  // the parent waits for the child's answer
  end_as_child_when_memory_is_out();
  if (::getppid() != parent) _exit(70);  // the parent died before the call of prctl
  try {
    body();
  } catch (const std::bad_alloc&) {
    _exit(ended_without_memory);
  } catch (...) {
    _exit(70);
  }
  _exit(0);
}

std::string run_isolated(const std::function<std::string()>& work, const ChildLimits& limits) {
  Children child;
  child.start(0, work, limits);
  return answer_of(child);
}

std::string run_isolated(const ChildWork& work, const std::string& request,
                         const ChildLimits& limits) {
  if (!has_threads()) return run_isolated([&] { return work.run(request); }, limits);
  Children child;
  child.start(work, request, limits);
  return answer_of(child);
}

std::vector<ProcessAnswer> run_in_processes(std::size_t count, std::size_t jobs,
                                            const std::function<std::string(std::size_t)>& work,
                                            const std::function<void(std::size_t)>& progress) {
  std::vector<ProcessAnswer> answers(count);
  Children children;
  std::size_t next = 0, done = 0;
  while (done < count) {
    check_interrupt();
    for (; next < count && children.size() < std::max<std::size_t>(jobs, 1); ++next)
      children.start(next, [&] { return work(next); });
    for (ChildEnd& ended : children.collect()) {
      ProcessAnswer& answer = answers[ended.number];
      if (!ended.death.empty())
        answer.fault = std::move(ended.death);
      else
        (ended.exit_code == 0 ? answer.text : answer.fault) = std::move(ended.text);
      ++done;
      if (progress) progress(done);
    }
  }
  check_interrupt();
  return answers;
}

std::size_t processors() {
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace sluice
