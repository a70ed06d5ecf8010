#include "study/pool.hpp"

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
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/interrupt.hpp"

namespace sluice {

namespace {

constexpr char answered = 'A', failed = 'F';

/// The answer's first byte tells an answer from a fault.
[[noreturn]] void be_child(int descriptor, std::size_t number,
                           const std::function<std::string(std::size_t)>& work) {
  std::string answer;
  try {
    answer = answered + work(number);
  } catch (const std::exception& error) {
    answer = failed + std::string(error.what());
  }
  std::size_t at = 0;
  while (at < answer.size()) {
    const ssize_t written = ::write(descriptor, answer.data() + at, answer.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    at += static_cast<std::size_t>(written);
  }
  _exit(at == answer.size() ? 0 : 70);
}

/// The children that are alive. Whoever leaves while there are some kills them: they compute, and
/// write nothing that could be left half done.
class Children {
 public:
  struct Child {
    std::size_t number;
    pid_t pid;
    int descriptor;
    std::string answer;
  };

  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children() {
    for (const Child& child : alive_) ::kill(child.pid, SIGKILL);
    for (const Child& child : alive_) wait_for(child);
  }

  std::size_t size() const { return alive_.size(); }

  void start(std::size_t number, const std::function<std::string(std::size_t)>& work) {
    int ends[2];
    if (::pipe(ends) != 0)
      throw IoError(std::string("cannot make a pipe: ") + std::strerror(errno));
    std::fflush(nullptr);  // or the child would print what waits in the buffers, too
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) {
      const int reason = errno;
      ::close(ends[0]);
      ::close(ends[1]);
      throw IoError(std::string("cannot start a process: ") + std::strerror(reason));
    }
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) _exit(70);  // it died before it could be watched
      for (const Child& other : alive_) ::close(other.descriptor);
      ::close(ends[0]);
      be_child(ends[1], number, work);
    }
    ::close(ends[1]);
    alive_.push_back({number, pid, ends[0], {}});
  }

  /// Reads what has come, for at most a moment; takes out the children that have ended.
  std::vector<std::pair<std::size_t, PoolAnswer>> collect() {
    std::vector<pollfd> waiting;
    for (const Child& child : alive_) waiting.push_back({child.descriptor, POLLIN, 0});
    std::vector<std::pair<std::size_t, PoolAnswer>> ended;
    constexpr int moment_ms = 100;
    if (::poll(waiting.data(), waiting.size(), moment_ms) <= 0) return ended;
    for (std::size_t c = waiting.size(); c-- > 0;) {
      if (waiting[c].revents == 0 || read_some(alive_[c])) continue;
      Child child = std::move(alive_[c]);
      alive_.erase(alive_.begin() + static_cast<std::ptrdiff_t>(c));
      ended.emplace_back(child.number, answer_of(child, wait_for(child)));
    }
    return ended;
  }

 private:
  /// False at the end.
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

  static PoolAnswer answer_of(const Child& child, int status) {
    if (WIFSIGNALED(status))
      return {{}, "its process died: " + std::string(strsignal(WTERMSIG(status)))};
    if (child.answer.empty() || WEXITSTATUS(status) != 0)
      return {{}, "its process ended without an answer"};
    const std::string text = child.answer.substr(1);
    return child.answer.front() == answered ? PoolAnswer{text, {}} : PoolAnswer{{}, text};
  }

  std::vector<Child> alive_;
};

}  // namespace

std::vector<PoolAnswer> run_pool(std::size_t count, std::size_t jobs,
                                 const std::function<std::string(std::size_t)>& work,
                                 const std::function<void(std::size_t)>& progress) {
  std::vector<PoolAnswer> answers(count);
  Children children;
  std::size_t next = 0, done = 0;
  while (done < count) {
    check_interrupt();
    while (next < count && children.size() < std::max<std::size_t>(jobs, 1))
      children.start(next++, work);
    for (auto& [number, answer] : children.collect()) {
      answers[number] = std::move(answer);
      if (progress) progress(done + 1);
      ++done;
    }
  }
  check_interrupt();
  return answers;
}

std::size_t processors() {
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace sluice
